-- Quotas for what users store in tables: transcripts and events, the ledger, conversations and rulesets.

create table private.stored_uses (
  user_id uuid not null references auth.users (id) on delete cascade,
  name text not null,
  byte_count bigint not null,
  primary key (user_id, name)
);
comment on table private.stored_uses is 'How many bytes each user has stored toward a quota on bytes.';
comment on column private.stored_uses.name is 'The name of the quota.';
alter table private.stored_uses enable row level security;

-- Unlogged: a crash loses the bytes of the last seconds, which is less than the work under way may exceed a quota by.
create unlogged table private.stored_debits (
  user_id uuid,
  job_id uuid,
  name text not null,
  byte_count bigint not null,
  check (num_nonnulls(user_id, job_id) = 1)
);
comment on table private.stored_debits is
  'Bytes that sum_stored_debits() has not added to stored_uses yet. Recording them inserts a row here and therefore waits for no lock, and no key is checked.';
comment on column private.stored_debits.job_id is 'The job that stored the bytes, which count toward its owner''s quota until the job is deleted.';
alter table private.stored_debits enable row level security;

create table private.stored_traces (
  job_id uuid primary key references public.tasks (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete cascade,
  byte_count bigint not null
);
create index stored_traces_user_id_idx on private.stored_traces (user_id);
comment on table private.stored_traces is 'How many bytes of trace_bytes each job of a user has stored: inputs, steps and events.';
alter table private.stored_traces enable row level security;

create function private.credit_traces()
returns trigger
language plpgsql
-- Any role that may delete a task also deletes its trace.
security definer
set search_path = ''
as $$
begin
  update private.stored_uses as used
  set byte_count = used.byte_count - gone.byte_count
  from (select user_id, sum(byte_count) as byte_count from old_rows group by user_id) as gone
  where used.user_id = gone.user_id and used.name = 'trace_bytes';
  return null;
end;
$$;
comment on function private.credit_traces() is
  'Statement trigger: returns the bytes of deleted jobs to their owners'' quotas. Definer: the role that deletes a task has no rights on the quotas.';
create trigger stored_traces_credit after delete on private.stored_traces
  referencing old table as old_rows for each statement execute function private.credit_traces();

create function private.debit_job(p_job_id uuid, p_owner_id uuid, p_byte_count bigint)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_owner_id is not null then
    insert into private.stored_debits (job_id, name, byte_count) values (p_job_id, 'trace_bytes', p_byte_count);
  end if;
end;
$$;
comment on function private.debit_job(uuid, uuid, bigint) is
  'Counts bytes of a job''s trace toward its owner''s quota trace_bytes within seconds; those of the service (a null owner) do not count. Waits for no lock.';

create function private.model_call_bytes()
returns int
language sql
immutable
set search_path = ''
as $$
  select 400;
$$;
comment on function private.model_call_bytes() is
  'What a row of usage_events counts toward the quota ledger_bytes, with its places in the indexes.';

create function private.debit_model_call(p_user_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_user_id is not null then
    insert into private.stored_debits (user_id, name, byte_count)
    values (p_user_id, 'ledger_bytes', private.model_call_bytes());
  end if;
end;
$$;
comment on function private.debit_model_call(uuid) is
  'Counts the row of a model call toward its user''s quota ledger_bytes within seconds. Waits for no lock. Called by record_usage().';

create function private.debit_inputs()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into private.stored_debits (job_id, name, byte_count)
  select written.master_task_id, 'trace_bytes',
    -- A row with its places in the indexes, beside its input.
    sum(1000 + coalesce(pg_column_size(written.input), 0) + coalesce(pg_column_size(written.metadata), 0))
  from new_rows as written
  where written.created_by is not null
  group by written.master_task_id;
  return null;
end;
$$;
comment on function private.debit_inputs() is
  'Statement trigger: counts new tasks toward the quota trace_bytes of their owners. Definer: operators who write tasks have no rights on the quotas.';
create trigger tasks_debit after insert on public.tasks
  referencing new table as new_rows for each statement execute function private.debit_inputs();

create function private.sum_stored_debits(p_limit int)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_count int;
begin
  with debit as (
    delete from private.stored_debits
    where ctid = any (array(select ctid from private.stored_debits limit p_limit for update skip locked))
    returning *
  ),
  traced as (
    insert into private.stored_traces as trace (job_id, user_id, byte_count)
    select job.id, job.created_by, sum(debit.byte_count)
    from debit
    join public.tasks as job on job.id = debit.job_id
    where job.created_by is not null
    group by job.id, job.created_by
    order by job.id
    on conflict (job_id) do update set byte_count = trace.byte_count + excluded.byte_count
  ),
  summed as (
    insert into private.stored_uses as used (user_id, name, byte_count)
    select owner.id, debit.name, sum(debit.byte_count)
    from debit
    -- The bytes of a job that was deleted in the meantime do not count.
    left join public.tasks as job on job.id = debit.job_id
    join auth.users as owner on owner.id = coalesce(debit.user_id, job.created_by)
    group by owner.id, debit.name
    order by owner.id, debit.name
    on conflict (user_id, name) do update set byte_count = used.byte_count + excluded.byte_count
  )
  select count(*) into v_count from debit;
  return v_count;
end;
$$;
comment on function private.sum_stored_debits(int) is
  'Adds up to p_limit debits to stored_uses, and those of jobs to stored_traces, and returns how many. Called by cron, through reconcile().';

create function private.stored_use(p_name text, p_user_id uuid)
returns bigint
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce((
    select used.byte_count from private.stored_uses as used where used.user_id = p_user_id and used.name = p_name
  ), 0);
end;
$$;
comment on function private.stored_use(text, uuid) is 'How many bytes a user has stored toward a quota.';

create function private.raise_storage_full(p_name text, p_amount bigint, p_action text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.raise_quota_exceeded(p_action, p_name, p_amount, 3600, case p_name
    when 'conversation_bytes' then ', or delete conversations'
    when 'ruleset_bytes' then ', or save shorter rulesets'
    else ', when retention has deleted old records'
  end);
end;
$$;
comment on function private.raise_storage_full(text, bigint, text) is
  'Raises QUOTA_EXCEEDED for a quota on bytes and says how to make room.';

create function private.assert_room_left(p_name text, p_user_id uuid, p_action text)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  v_amount constant bigint := private.quota(p_name, p_user_id);
begin
  if private.stored_use(p_name, p_user_id) >= v_amount then
    perform private.raise_storage_full(p_name, v_amount, p_action);
  end if;
end;
$$;
comment on function private.assert_room_left(text, uuid, text) is
  'Raises QUOTA_EXCEEDED when a user has used up a quota on bytes. Called before work whose bytes are known only afterwards, so that only the work that is under way can exceed the quota. p_action completes the sentence "Cannot …".';

create function private.debit_stored(p_name text, p_user_id uuid, p_byte_count bigint, p_action text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_amount constant bigint := private.quota(p_name, p_user_id);
  v_used bigint;
begin
  if p_user_id is null then
    return;
  end if;
  -- Writes of one user wait here for each other, so that together they stay within the quota.
  insert into private.stored_uses as used (user_id, name, byte_count)
  values (p_user_id, p_name, p_byte_count)
  on conflict (user_id, name) do update set byte_count = used.byte_count + excluded.byte_count
  returning used.byte_count into v_used;
  if v_used > v_amount then
    perform private.raise_storage_full(p_name, v_amount, p_action);
  end if;
end;
$$;
comment on function private.debit_stored(text, uuid, bigint, text) is
  'Counts bytes toward a user''s quota when they are written. Raises QUOTA_EXCEEDED for more than is left. p_action completes the sentence "Cannot …".';

create function private.debit_copied_job(p_job_id uuid, p_owner_id uuid, p_byte_count bigint, p_action text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_owner_id is null then
    return;
  end if;
  -- In the order of sum_stored_debits().
  insert into private.stored_traces as trace (job_id, user_id, byte_count)
  values (p_job_id, p_owner_id, p_byte_count)
  on conflict (job_id) do update set byte_count = trace.byte_count + excluded.byte_count;
  perform private.debit_stored('trace_bytes', p_owner_id, p_byte_count, p_action);
end;
$$;
comment on function private.debit_copied_job(uuid, uuid, bigint, text) is
  'Counts the bytes that a new job copies toward its owner''s quota trace_bytes before they are written: many copies at once would exceed it by all of them. Raises QUOTA_EXCEEDED for more than is left. p_action completes the sentence "Cannot …".';

create function private.credit_stored(p_name text, p_user_id uuid, p_byte_count bigint)
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- Nothing is inserted: the user may be about to be deleted.
  update private.stored_uses set byte_count = byte_count - p_byte_count
  where user_id = p_user_id and name = p_name;
end;
$$;
comment on function private.credit_stored(text, uuid, bigint) is 'Returns bytes that were deleted to a user''s quota.';

create function private.storage_use()
returns table (name text, used_bytes bigint, quota_bytes bigint)
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_user_id constant uuid := auth.uid();
begin
  perform private.assert_has_scope('show the storage use', 'swarm:run');
  return query
    select stored.name,
      case stored.name
        when 'stored_bytes' then private.kept_bytes(v_user_id) + private.uploaded_bytes(v_user_id)
        else private.stored_use(stored.name, v_user_id)
      end,
      private.quota(stored.name, v_user_id)
    from unnest('{stored_bytes,trace_bytes,ledger_bytes,conversation_bytes,ruleset_bytes}'::text[]) as stored (name)
    where v_user_id is not null;
end;
$$;
comment on function private.storage_use() is
  'How many bytes the caller has stored toward each quota on bytes, and the quota (null: no limit). Definer: users may not read quotas; the function reads only those of auth.uid(). Raises INSUFFICIENT_SCOPE.';
create function public.storage_use()
returns table (name text, used_bytes bigint, quota_bytes bigint)
language sql
stable
set search_path = ''
as $$
  select used.name, used.used_bytes, used.quota_bytes from private.storage_use() as used;
$$;
comment on function public.storage_use() is
  'How many bytes the caller has stored toward each quota on bytes, and the quota (null: no limit): files and saved data (stored_bytes), inputs, steps and events of jobs (trace_bytes), tool calls, their grades and model calls (ledger_bytes), conversations (conversation_bytes) and rulesets (ruleset_bytes).';
revoke all on function public.storage_use() from public, anon, authenticated, service_role;
grant execute on function private.storage_use(), public.storage_use() to authenticated;
