-- Syncs as a kind of work: leases, claims, and how a worker ends its hold on a sync.

select private.create_work_kind(
  'sync', 'public.quoth_syncs', 'quoth-sync', p_also_at_start => 'error = null'
);

create constraint trigger quoth_syncs_wake_on_insert after insert on public.quoth_syncs
  deferrable initially deferred for each row
  when (new.status = 'pending')
  execute function private.wake_at_commit('quoth-sync');

create constraint trigger quoth_syncs_wake_on_update after update of status, run_after on public.quoth_syncs
  deferrable initially deferred for each row
  when (
    new.status = 'pending' and (new.run_after is null or new.run_after <= clock_timestamp())
    and (old.status <> 'pending' or new.run_after is distinct from old.run_after)
  )
  execute function private.wake_at_commit('quoth-sync');

create function private.queue_sync(p_project_id uuid, p_kind text, p_reason text, p_wanted_commit text default null)
returns uuid
language plpgsql
set search_path = ''
as $$
declare
  v_id uuid;
begin
  insert into public.quoth_syncs (project_id, kind, reason, wanted_commit)
  values (p_project_id, p_kind, p_reason, p_wanted_commit)
  returning id into v_id;
  return v_id;
end;
$$;
comment on function private.queue_sync(uuid, text, text, text) is
  'Creates a sync. The caller holds the project''s row, so that the order of seq is the order of commits.';

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
      -- Keep the stronger reason: a request also retries files that failed before, a head check does not.
      reason = case when reason = 'request' or p_reason = 'head_check' then reason else p_reason end
  where project_id = p_project_id and kind = 'tree' and status = 'pending' and epoch = 0
  returning id into v_id;
  return coalesce(v_id, private.queue_sync(p_project_id, 'tree', p_reason, p_wanted_commit));
end;
$$;
comment on function private.queue_tree_sync(uuid, text, text) is
  'Requests a comparison with the branch''s head: joins a waiting sync or creates one. Returns the sync''s id.';

create function private.queue_embed_sync(p_project_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  perform private.hold_project(p_project_id);
  if exists (
    select from public.quoth_syncs
    where project_id = p_project_id and kind = 'embed' and finished_at is null
  ) then
    return false;
  end if;
  perform private.queue_sync(p_project_id, 'embed', 'pending_chunks');
  return true;
end;
$$;
comment on function private.queue_embed_sync(uuid) is
  'Requests the vectors of a project''s pending chunks; false when that is already running.';

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
  'The properties of an embedder that a sync needs. runs_here: it uses the CPU time of the caller.';

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
          -- Only with the hourly check and not with each search: GitHub allows 60 requests an hour without a token.
          and refused.failed_at < clock_timestamp() - interval '50 minutes'
      ),
      'embedder', (
        select private.chunk_target(target)
        from public.embedders as target
        -- The first document sets the embedder permanently.
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
comment on function private.sync_context(public.quoth_syncs) is 'What a worker needs to know about a sync and its project. Contains no secret.';

create function private.claim_sync(p_worker_id text, p_lease_seconds int)
returns table (sync_id uuid, epoch bigint, context jsonb)
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_max_deliveries constant int := 5;
  v_now constant timestamptz := clock_timestamp();
  v_sync public.quoth_syncs;
begin
  loop
    select sync.* into v_sync
    from public.quoth_syncs as sync
    where sync.finished_at is null
      and case sync.status
        when 'running' then sync.lease_expires_at <= v_now
        else sync.run_after is null or sync.run_after <= v_now
      end
      and (sync.kind = 'embed' or not exists (
        select from public.quoth_syncs as earlier
        where earlier.project_id = sync.project_id and earlier.kind <> 'embed'
          and earlier.finished_at is null and earlier.seq < sync.seq
      ))
    order by coalesce(sync.run_after, sync.created_at), sync.seq
    limit 1
    for no key update of sync skip locked;
    exit when not found;
    if v_sync.deliveries < v_max_deliveries then
      return query
        select started.id, started.epoch, private.sync_context(started)
        from private.start_syncs(array[v_sync.id], p_worker_id, p_lease_seconds) as started;
      return;
    end if;
    perform private.end_sync(v_sync.id, 'failed', jsonb_build_object(
      'code', 'SYNC_DELIVERIES_EXCEEDED',
      'message', format('The sync''s worker died %s times without progress', v_sync.deliveries),
      'hint', 'Look into the log of quoth-sync for what ends it: memory, CPU time, an unreachable database.'
    ));
  end loop;
end;
$$;
comment on function private.claim_sync(text, int) is
  'Claims the sync that has waited longest among those that may run, with a lease of p_lease_seconds and a new epoch; no row when there is none. Called by quoth-sync.';

create function private.end_sync(p_sync_id uuid, p_status text, p_error jsonb default null)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_sync public.quoth_syncs;
begin
  select * into v_sync from public.quoth_syncs where id = p_sync_id and finished_at is null;
  if not found then
    return;
  end if;
  update public.quoth_syncs
  set status = p_status, error = p_error, finished_at = clock_timestamp(),
      worker_id = null, lease_expires_at = null, run_after = null
  where id = v_sync.id;
  delete from private.quoth_sync_files where sync_id = v_sync.id;
  delete from private.spare_embeddings
  where project_id = v_sync.project_id and not exists (
    select from public.quoth_syncs as other
    where other.project_id = v_sync.project_id and other.kind <> 'embed' and other.finished_at is null
  );
end;
$$;
comment on function private.end_sync(uuid, text, jsonb) is
  'Ends a sync permanently and deletes its remaining files; the project''s next sync may run.';

create function private.reset_file_deliveries(p_sync_id uuid)
returns void
language sql
set search_path = ''
as $$
  update private.quoth_sync_files set deliveries = 0
  where sync_id = reset_file_deliveries.p_sync_id and deliveries > 0;
$$;
comment on function private.reset_file_deliveries(uuid) is 'Resets the delivery counts of files that the worker began with, because the worker is alive.';

create function private.fail_sync(
  p_sync_id uuid, p_epoch bigint, p_error jsonb, p_is_retryable boolean, p_retry_after_seconds numeric default null
)
returns text
language plpgsql
set search_path = ''
as $$
declare
  v_sync public.quoth_syncs := private.hold_sync(p_sync_id, p_epoch, null);
  v_seconds numeric := coalesce(
    p_retry_after_seconds,
    least(30 * 2 ^ v_sync.attempts, 3600) * (0.5 + random() / 2)
  );
begin
  -- A requested wait does not count as a failure.
  if not p_is_retryable or (p_retry_after_seconds is null and v_sync.attempts >= 6) then
    perform private.end_sync(v_sync.id, 'failed', p_error);
    return 'failed';
  end if;
  perform private.release_sync(v_sync.id, clock_timestamp() + make_interval(secs => v_seconds::double precision));
  update public.quoth_syncs
  set error = p_error, deliveries = 0,
      attempts = attempts + case when p_retry_after_seconds is null then 1 else 0 end
  where id = v_sync.id;
  -- The plan itself may have failed, for example for a commit that a forced push removed. Plan again.
  if p_retry_after_seconds is null and v_sync.kind = 'tree' then
    delete from private.quoth_sync_files where sync_id = v_sync.id;
    update public.quoth_syncs set commit_sha = null where id = v_sync.id;
  end if;
  perform private.reset_file_deliveries(v_sync.id);
  return 'pending';
end;
$$;
comment on function private.fail_sync(uuid, bigint, jsonb, boolean, numeric) is
  'Records that a sync failed: it waits as long as requested, or longer with each attempt, or fails after the last attempt. Returns its status. Called by quoth-sync.';

create function private.yield_sync(p_sync_id uuid, p_epoch bigint)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_sync public.quoth_syncs := private.hold_sync(p_sync_id, p_epoch, null);
begin
  -- After all waiting syncs, so that other projects get their turn.
  perform private.release_sync(v_sync.id, clock_timestamp());
  update public.quoth_syncs set deliveries = 0 where id = v_sync.id;
  perform private.reset_file_deliveries(v_sync.id);
end;
$$;
comment on function private.yield_sync(uuid, bigint) is
  'Hands a sync on to the next worker and wakes one, because an isolate has little CPU time. Called by quoth-sync.';

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
  update public.quoth_syncs as sync
  set run_after = null
  from public.projects as project
  where project.id = sync.project_id
    and p_embedder in (project.embedder, project.next_embedder)
    and sync.kind = 'embed' and sync.status = 'pending' and sync.error ->> 'code' = 'EMBEDDER_REFUSED';
  return true;
end;
$$;
comment on function private.resume_embedder(text) is
  'Ends the pause of an embedder that refused every request; returns whether it was paused. For operators who have fixed its key or account; called when its row changes and when a sync is requested.';

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
  'Row trigger of embedders: the change may have fixed the cause of a pause. Definer: operators change embedders through the API and have no right on embedding_buckets.';

create trigger resume_changed_embedder after update on public.embedders
  for each row execute function private.resume_changed_embedder();
