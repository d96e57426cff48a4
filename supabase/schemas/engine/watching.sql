-- Model text is streamed only while a client watches the job.

-- Unlogged: after a crash, a watching client renews its row within a minute.
create unlogged table private.watched_jobs (
  master_task_id uuid primary key references public.tasks (id) on delete cascade,
  watched_until timestamptz not null
);
comment on table private.watched_jobs is 'Jobs that clients watch, and until when.';
alter table private.watched_jobs enable row level security;

create function private.watched_seconds(p_task_id uuid)
returns numeric
language plpgsql
stable
set search_path = ''
as $$
begin
  -- Most of the time no job is watched.
  if not exists (select from private.watched_jobs) then
    return 0;
  end if;
  return coalesce((
    select greatest(0, extract(epoch from job.watched_until - clock_timestamp()))
    from public.tasks as task
    join private.watched_jobs as job on job.master_task_id = task.master_task_id
    where task.id = p_task_id
  ), 0);
end;
$$;
comment on function private.watched_seconds(uuid) is
  'For how many more seconds the task''s job is watched; 0 when it is not. Workers receive it with every answer of the database.';

create function private.watch_job(p_master_task_id uuid)
returns timestamptz
language plpgsql
set search_path = ''
as $$
declare
  v_until timestamptz := clock_timestamp() + make_interval(secs => private.setting_number('watch_seconds', 60)::int);
begin
  -- Clean up here, because no scheduled cleanup runs often enough. Skips rows that are being renewed.
  delete from private.watched_jobs
  where master_task_id in (
    select master_task_id from private.watched_jobs
    where watched_until < clock_timestamp() - interval '1 hour'
    limit 100
    for update skip locked
  );
  insert into private.watched_jobs as job (master_task_id, watched_until)
  values (p_master_task_id, v_until)
  on conflict (master_task_id) do update
  set watched_until = greatest(job.watched_until, excluded.watched_until)
  returning job.watched_until into v_until;
  -- Realtime does not ask the policies about the service, so this is how a secret key joins.
  perform private.expect_receiver('supaswarm:master:' || p_master_task_id, v_until);
  return v_until;
end;
$$;
comment on function private.watch_job(uuid) is
  'Marks a job as watched, and its channel as joined, for the number of seconds in the setting watch_seconds, 60 by default, and returns until when.';

create function private.broadcast_delta(p_task_id uuid, p_epoch bigint, p_seq int, p_offset int, p_text text)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_master_task_id uuid;
begin
  select task.master_task_id into v_master_task_id
  from public.tasks as task
  where task.id = p_task_id and task.epoch = p_epoch and task.status = 'running';
  if not found
    or private.watched_seconds(p_task_id) = 0
    or not private.can_broadcast()
    or not private.has_message_budget()
  then
    return false;
  end if;
  perform private.send_messages(
    array['supaswarm:master:' || v_master_task_id],
    array['model.delta'],
    array[jsonb_build_object(
      'task_id', p_task_id,
      'master_task_id', v_master_task_id,
      'seq', null,
      'at', clock_timestamp(),
      'data', jsonb_build_object('step_seq', p_seq, 'offset', p_offset, 'text', p_text)
    )]
  );
  return true;
end;
$$;
comment on function private.broadcast_delta(uuid, bigint, int, int, text) is
  'Sends streamed model text to the channel of its job without storing it. p_offset is the number of UTF-16 code units of the answer before this text. Returns false when the text was not sent because no client watches or the message budget is used up: the caller then sends it with the next piece. Called by workers.';

create function private.streamed_text(p_task_id uuid, p_seconds double precision)
returns table (id uuid, step_seq int, text_offset int, text text)
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    select message.id, (message.payload #>> '{data,step_seq}')::int, (message.payload #>> '{data,offset}')::int,
      message.payload #>> '{data,text}'
    from realtime.messages as message
    where message.inserted_at >= localtimestamp - make_interval(secs => p_seconds)
      and message.extension = 'broadcast'
      and message.private is true
      and message.event = 'model.delta'
      and message.payload ->> 'task_id' = p_task_id::text
    order by (message.payload ->> 'at')::timestamptz, 3;
end;
$$;
comment on function private.streamed_text(uuid, double precision) is
  'Pieces of model text that a task streamed within the past p_seconds, oldest first. Called by the tool get_task and by chats, which have checked that their caller may see the task.';
