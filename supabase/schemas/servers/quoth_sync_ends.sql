-- The end of syncs, and their cron jobs.

create function private.lacks_vectors(p_project_id uuid)
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select from private.pending_embeddings as pending
    where pending.project_id = lacks_vectors.p_project_id and pending.failed_at is null
  ) or exists (select from private.documents_to_chunk(lacks_vectors.p_project_id, 1));
$$;
comment on function private.lacks_vectors(uuid) is
  'True when a project has texts to embed, or documents to split for its next embedder.';

create function private.finish_sync(
  p_sync_id uuid, p_epoch bigint, p_head_commit text default null
)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_project_id uuid := (select project_id from public.quoth_syncs where id = p_sync_id);
  v_sync public.quoth_syncs;
begin
  perform private.hold_project(v_project_id);
  v_sync := private.hold_sync(p_sync_id, p_epoch, 60);
  if exists (select from private.quoth_sync_files where sync_id = v_sync.id) then
    return false;
  end if;
  if v_sync.kind = 'embed' then
    if private.lacks_vectors(v_project_id) then
      return false;
    end if;
    perform private.finish_switch(v_project_id);
    perform private.end_sync(v_sync.id, 'completed');
    return true;
  end if;

  if p_head_commit is not null then
    update public.projects set head_commit = p_head_commit, head_checked_at = clock_timestamp()
    where id = v_project_id;
  elsif v_sync.kind = 'tree' then
    -- Documents that were sent directly before they were pushed.
    update public.documents set commit_sha = v_sync.commit_sha
    where project_id = v_project_id and commit_sha is null;
    update public.projects set indexed_commit = v_sync.commit_sha, indexed_at = clock_timestamp()
    where id = v_project_id;
  else
    update public.projects set indexed_at = clock_timestamp()
    where id = v_project_id and github_repo is null;
  end if;
  if v_sync.reason = 'request' then
    perform private.requeue_failed_chunks(v_project_id);
  end if;
  perform private.end_sync(v_sync.id, 'completed');
  if private.lacks_vectors(v_project_id) then
    perform private.queue_embed_sync(v_project_id);
  end if;
  return true;
end;
$$;
comment on function private.finish_sync(uuid, bigint, text) is
  'Ends a sync that has nothing left to do and requests the missing vectors; false when there is more to do. Only this function changes projects.indexed_commit. p_head_commit: the branch has not moved, and no tree was compared. Called by quoth-sync.';

create function private.count_embedded(p_sync_id uuid, p_epoch bigint, p_lease_seconds int, p_count int)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.hold_sync(p_sync_id, p_epoch, p_lease_seconds);
  update public.quoth_syncs set embedded_count = embedded_count + p_count, deliveries = 0
  where id = p_sync_id;
end;
$$;
comment on function private.count_embedded(uuid, bigint, int, int) is
  'Records the progress of a sync that embeds: renews its lease and counts the texts that were sent (0 when a document was split). Called by quoth-sync.';

create function private.quoth_tick()
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- GitHub never resends a lost delivery automatically.
  perform private.run_for_each('request_head_check', array(
    select project.id from public.projects as project
    -- Check this here too: branches that cannot be read must not take the places of others.
    where private.is_head_unknown(project, '1 hour')
    order by project.head_checked_at nulls first
    limit 20
  ));
  perform private.run_for_each('queue_embed_sync', array(
    select backlog.project_id from private.embedding_backlog() as backlog where backlog.due_count > 0
    union
    select project.id from public.projects as project
    where project.next_embedder is not null and private.lacks_vectors(project.id)
    except
    -- A failed one is not tried again at every tick.
    select sync.project_id from public.quoth_syncs as sync
    where sync.kind = 'embed' and (
      sync.finished_at is null
      or (sync.status = 'failed' and sync.finished_at > clock_timestamp() - interval '15 minutes')
    )
  ));
end;
$$;
comment on function private.quoth_tick() is
  'Queues work that no event requested: checks of branches, and vectors of pending chunks. Called by cron.';

create function private.delete_old_syncs()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_count int;
begin
  -- A user can resend a delivery on GitHub for three days.
  delete from public.quoth_syncs
  where finished_at < clock_timestamp() - interval '7 days'
    or (finished_at < clock_timestamp() - interval '1 day' and reason = 'head_check' and commit_sha is null);
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_old_syncs() is 'Deletes ended syncs and their deliveries after seven days. Called by cron.';

select cron.schedule('supaswarm-quoth-tick', '15 seconds', 'select private.quoth_tick()');
select cron.schedule('supaswarm-delete-syncs', '43 3 * * *', 'select private.delete_old_syncs()');
