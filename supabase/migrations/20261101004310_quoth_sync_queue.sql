-- The queue of syncs: lease, visibility and epoch move together, as those of tasks do.

select pgmq.create('quoth_sync');
alter table pgmq.q_quoth_sync enable row level security;
alter table pgmq.a_quoth_sync enable row level security;

insert into private.wake_gate (name) values ('quoth-sync');

create function private.wake_sync_at_commit()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform from private.wake_gate
  where name = 'quoth-sync' and last_wake_at < clock_timestamp() - interval '150 milliseconds'
  for update skip locked;
  if found then
    update private.wake_gate set last_wake_at = clock_timestamp() where name = 'quoth-sync';
    perform private.wake_function('quoth-sync');
  end if;
  return null;
end;
$$;
comment on function private.wake_sync_at_commit() is
  'Deferred row trigger: a debounced wake for a sync that can be claimed. A worker looks again for longer than the debounce. Definer: runs at commit as whoever committed.';

create constraint trigger quoth_syncs_wake_on_insert after insert on public.quoth_syncs
  deferrable initially deferred for each row
  when (new.status = 'pending')
  execute function private.wake_sync_at_commit();

create constraint trigger quoth_syncs_wake_on_update after update of message_id on public.quoth_syncs
  deferrable initially deferred for each row
  when (new.status = 'pending' and new.message_id is distinct from old.message_id)
  execute function private.wake_sync_at_commit();

create function private.send_sync_message(p_sync_id uuid)
returns bigint
language sql
set search_path = ''
as $$
  select pgmq.send('quoth_sync', jsonb_build_object('sync_id', send_sync_message.p_sync_id));
$$;
comment on function private.send_sync_message(uuid) is 'Puts the message of a sync at the end of the queue and returns the message''s id.';

create function private.queue_sync(p_project_id uuid, p_kind text, p_reason text, p_wanted_commit text default null)
returns uuid
language plpgsql
set search_path = ''
as $$
declare
  v_id uuid := gen_random_uuid();
begin
  insert into public.quoth_syncs (id, project_id, kind, reason, wanted_commit, message_id)
  values (v_id, p_project_id, p_kind, p_reason, p_wanted_commit, private.send_sync_message(v_id));
  return v_id;
end;
$$;
comment on function private.queue_sync(uuid, text, text, text) is
  'Creates a sync and its message. The caller holds the project''s row, so that the order of seq is the order of commits.';

create function private.queue_tree_sync(p_project_id uuid, p_reason text, p_wanted_commit text default null)
returns uuid
language plpgsql
set search_path = ''
as $$
declare
  v_id uuid;
begin
  perform private.hold_project(p_project_id);
  update public.quoth_syncs
  set wanted_commit = coalesce(p_wanted_commit, wanted_commit),
      -- A check may find nothing to do; a request tries again what failed before.
      reason = case when reason = 'request' or p_reason = 'head_check' then reason else p_reason end
  where project_id = p_project_id and kind = 'tree' and status = 'pending' and epoch = 0
  returning id into v_id;
  return coalesce(v_id, private.queue_sync(p_project_id, 'tree', p_reason, p_wanted_commit));
end;
$$;
comment on function private.queue_tree_sync(uuid, text, text) is
  'Asks for a comparison with the branch''s head: joins the one that waits, or creates it. Returns the sync''s id.';

create function private.queue_embed_sync(p_project_id uuid)
returns uuid
language plpgsql
set search_path = ''
as $$
begin
  perform private.hold_project(p_project_id);
  if exists (
    select from public.quoth_syncs
    where project_id = p_project_id and kind = 'embed' and finished_at is null
  ) then
    return null;
  end if;
  return private.queue_sync(p_project_id, 'embed', 'pending_chunks');
end;
$$;
comment on function private.queue_embed_sync(uuid) is
  'Asks for the vectors of a project''s pending chunks; null when that is already under way.';

create function private.sync_id_of(p_message jsonb)
returns uuid
language sql
immutable
set search_path = ''
as $$
  select substring(
    p_message ->> 'sync_id' from '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
  )::uuid;
$$;
comment on function private.sync_id_of(jsonb) is 'The sync that a message {"sync_id"} names; null for a malformed one.';

create function private.chunk_target(p_embedder public.embedders)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select jsonb_build_object(
    'name', p_embedder.name,
    'window_tokens', p_embedder.window_tokens,
    'runs_here', p_embedder.api in ('supabase', 'hash')
  );
$$;
comment on function private.chunk_target(public.embedders) is
  'What a sync needs to know of an embedder; runs_here: its work is CPU time of whoever calls it.';

create function private.sync_context(p_sync public.quoth_syncs)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_build_object(
    'kind', p_sync.kind,
    'reason', p_sync.reason,
    'commit_sha', p_sync.commit_sha,
    'project', jsonb_build_object(
      'id', project.id,
      'github_repo', project.github_repo,
      'default_branch', project.default_branch,
      'include_globs', to_jsonb(project.include_globs),
      'indexed_commit', project.indexed_commit,
      'head_commit', project.head_commit,
      'chunker_version', case when p_sync.kind = 'tree' then (
        select min(document.chunker_version) from public.documents as document where document.project_id = project.id
      ) end,
      'lacks_files', exists (
        select from public.quoth_file_errors as refused
        where refused.project_id = project.id and refused.error ->> 'code' = 'FILE_UNAVAILABLE'
          -- By the hourly look, and not by each search: GitHub gives 60 requests an hour without a token.
          and refused.failed_at < clock_timestamp() - interval '50 minutes'
      ),
      'embedder', (
        select private.chunk_target(target)
        from public.embedders as target
        -- The first document chooses it for good.
        where target.name = coalesce(project.embedder, private.default_embedder())
      ),
      'next_embedder', (
        select private.chunk_target(target)
        from public.embedders as target
        where target.name = project.next_embedder
      )
    )
  )
  from public.projects as project
  where project.id = p_sync.project_id;
$$;
comment on function private.sync_context(public.quoth_syncs) is 'What a worker needs to know of a sync and its project. Holds no secret.';

create function private.claim_sync(p_worker_id text, p_lease_seconds int)
returns table (sync_id uuid, epoch bigint, context jsonb)
language plpgsql
set search_path = ''
as $$
declare
  v_message pgmq.message_record;
  v_sync public.quoth_syncs;
begin
  loop
    select * into v_message from pgmq.read('quoth_sync', p_lease_seconds, 1);
    exit when not found;
    select * into v_sync from public.quoth_syncs
    where id = private.sync_id_of(v_message.message) and message_id = v_message.msg_id
    for no key update skip locked;
    if not found then
      -- Busy in another transaction, or of no use any more.
      if exists (select from public.quoth_syncs where message_id = v_message.msg_id) then
        perform pgmq.set_vt('quoth_sync', v_message.msg_id, 1);
      else
        perform pgmq.delete('quoth_sync', v_message.msg_id);
      end if;
      continue;
    end if;
    if v_sync.status = 'running' and v_sync.lease_expires_at > clock_timestamp() then
      perform pgmq.set_vt(
        'quoth_sync', v_message.msg_id,
        ceil(extract(epoch from v_sync.lease_expires_at - clock_timestamp()))::int
      );
      continue;
    end if;
    -- The earlier one makes this one's message visible when it ends.
    if v_sync.kind <> 'embed' and exists (
      select from public.quoth_syncs as earlier
      where earlier.project_id = v_sync.project_id and earlier.kind <> 'embed'
        and earlier.finished_at is null and earlier.seq < v_sync.seq
    ) then
      perform pgmq.set_vt('quoth_sync', v_message.msg_id, 15);
      continue;
    end if;
    if v_sync.deliveries >= 5 then
      perform private.end_sync(v_sync.id, 'failed', jsonb_build_object(
        'code', 'SYNC_DELIVERIES_EXCEEDED',
        'message', format('The sync''s worker died %s times without progress', v_sync.deliveries),
        'hint', 'Look into the log of quoth-sync for what ends it: memory, CPU time, an unreachable database.'
      ));
      continue;
    end if;

    update public.quoth_syncs as sync
    set status = 'running',
        epoch = sync.epoch + 1,
        deliveries = sync.deliveries + 1,
        worker_id = p_worker_id,
        lease_expires_at = v_message.vt,
        run_after = null,
        error = null,
        started_at = coalesce(sync.started_at, clock_timestamp())
    where sync.id = v_sync.id
    returning sync.* into v_sync;
    sync_id := v_sync.id;
    epoch := v_sync.epoch;
    context := private.sync_context(v_sync);
    return next;
    return;
  end loop;
end;
$$;
comment on function private.claim_sync(text, int) is
  'Claims the next sync that may run, with a lease of p_lease_seconds and a new epoch; no row when there is none. Called by quoth-sync.';

create function private.hold_sync(p_sync_id uuid, p_epoch bigint, p_lease_seconds int)
returns public.quoth_syncs
language plpgsql
set search_path = ''
as $$
declare
  v_sync public.quoth_syncs;
begin
  update public.quoth_syncs
  set lease_expires_at = clock_timestamp() + make_interval(secs => p_lease_seconds)
  where id = p_sync_id and epoch = p_epoch and status = 'running'
  returning * into v_sync;
  if not found then
    raise sqlstate 'PT409' using
      message = format('Cannot write for sync %s: epoch %s does not hold its lease', p_sync_id, p_epoch),
      detail = 'LEASE_LOST',
      hint = 'Drop the sync; another worker has it, or it has ended.';
  end if;
  perform pgmq.set_vt('quoth_sync', v_sync.message_id, p_lease_seconds);
  return v_sync;
end;
$$;
comment on function private.hold_sync(uuid, bigint, int) is
  'The fence that every write of a sync''s worker passes: locks the sync, renews its lease and its message''s visibility, or raises LEASE_LOST.';

create function private.end_sync(p_sync_id uuid, p_status text, p_error jsonb default null)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_sync public.quoth_syncs;
  v_next public.quoth_syncs;
begin
  select * into v_sync from public.quoth_syncs where id = p_sync_id and finished_at is null;
  if not found then
    return;
  end if;
  update public.quoth_syncs
  set status = p_status, error = p_error, finished_at = clock_timestamp(),
      worker_id = null, lease_expires_at = null, run_after = null, message_id = null
  where id = v_sync.id;
  delete from private.quoth_sync_files where sync_id = v_sync.id;
  perform pgmq.delete('quoth_sync', v_sync.message_id);
  delete from private.spare_embeddings
  where project_id = v_sync.project_id and not exists (
    select from public.quoth_syncs as other
    where other.project_id = v_sync.project_id and other.kind <> 'embed' and other.finished_at is null
  );

  select * into v_next from public.quoth_syncs
  where project_id = v_sync.project_id and kind <> 'embed' and status = 'pending' and run_after is null
  order by seq
  limit 1;
  if found then
    perform pgmq.set_vt('quoth_sync', v_next.message_id, 0);
  end if;
end;
$$;
comment on function private.end_sync(uuid, text, jsonb) is
  'Ends a sync for good, forgets what was left of it and lets the project''s next one run.';

create function private.forgive_files(p_sync_id uuid)
returns void
language sql
set search_path = ''
as $$
  update private.quoth_sync_files set deliveries = 0
  where sync_id = forgive_files.p_sync_id and deliveries > 0;
$$;
comment on function private.forgive_files(uuid) is 'The worker lives: none of the files that it began with has ended it.';

create function private.fail_sync(
  p_sync_id uuid, p_epoch bigint, p_error jsonb, p_is_retryable boolean, p_retry_after_seconds numeric default null
)
returns text
language plpgsql
set search_path = ''
as $$
declare
  v_sync public.quoth_syncs := private.hold_sync(p_sync_id, p_epoch, 60);
  v_seconds numeric := coalesce(
    p_retry_after_seconds,
    least(30 * 2 ^ v_sync.attempts, 3600) * (0.5 + random() / 2)
  );
begin
  -- Waiting as told is no failure.
  if not p_is_retryable or (p_retry_after_seconds is null and v_sync.attempts >= 6) then
    perform private.end_sync(v_sync.id, 'failed', p_error);
    return 'failed';
  end if;
  update public.quoth_syncs
  set status = 'pending', error = p_error, worker_id = null, lease_expires_at = null, deliveries = 0,
      attempts = attempts + case when p_retry_after_seconds is null then 1 else 0 end,
      run_after = clock_timestamp() + make_interval(secs => v_seconds::double precision)
  where id = v_sync.id;
  perform pgmq.set_vt('quoth_sync', v_sync.message_id, ceil(v_seconds)::int);
  -- What was planned may be what failed: a commit that a forced push has removed.
  if p_retry_after_seconds is null and v_sync.kind = 'tree' then
    delete from private.quoth_sync_files where sync_id = v_sync.id;
    update public.quoth_syncs set commit_sha = null where id = v_sync.id;
  end if;
  perform private.forgive_files(v_sync.id);
  return 'pending';
end;
$$;
comment on function private.fail_sync(uuid, bigint, jsonb, boolean, numeric) is
  'A sync could not go on: it waits as long as it was told, or longer with each attempt, or fails after the last. Returns its status. Called by quoth-sync.';

create function private.yield_sync(p_sync_id uuid, p_epoch bigint)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_sync public.quoth_syncs := private.hold_sync(p_sync_id, p_epoch, 60);
begin
  perform pgmq.delete('quoth_sync', v_sync.message_id);
  update public.quoth_syncs
  set status = 'pending', worker_id = null, lease_expires_at = null, deliveries = 0,
      -- At the end of the queue: other projects come in between.
      message_id = private.send_sync_message(v_sync.id)
  where id = v_sync.id;
  perform private.forgive_files(v_sync.id);
end;
$$;
comment on function private.yield_sync(uuid, bigint) is
  'Hands a sync on to the next worker, and wakes one: an isolate''s CPU time is short. Called by quoth-sync.';

create function private.resume_embedder(p_embedder text)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  update private.embedding_buckets
  set paused_until = null, pause_reason = null, pause_message = null
  where embedder = p_embedder and pause_reason = 'refused';
  if not found then
    return false;
  end if;
  with due as (
    update public.quoth_syncs as sync
    set run_after = null
    from public.projects as project
    where project.id = sync.project_id
      and p_embedder in (project.embedder, project.next_embedder)
      and sync.kind = 'embed' and sync.status = 'pending' and sync.error ->> 'code' = 'EMBEDDER_REFUSED'
    returning sync.message_id
  )
  update pgmq.q_quoth_sync as message
  set vt = clock_timestamp()
  from due
  where message.msg_id = due.message_id;
  return true;
end;
$$;
comment on function private.resume_embedder(text) is
  'Asks an embedder again that was left alone since it refused everything; says whether it was. For operators who have mended its key or account; called when its row changes and when a project is synced on request.';

create function private.resume_changed_embedder()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.resume_embedder(new.name);
  return null;
end;
$$;
comment on function private.resume_changed_embedder() is
  'Row trigger of embedders: what was wrong may have been mended. Definer: operators change embedders through the API, and have no right on embedding_buckets.';

create trigger resume_changed_embedder after update on public.embedders
  for each row execute function private.resume_changed_embedder();
