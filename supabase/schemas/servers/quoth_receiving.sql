-- Requests for syncs: pushes by webhook, files sent directly, checks of the branch's head.

create function private.webhook_secrets(p_github_repo text)
returns table (project_id uuid, default_branch text, secret text)
language sql
stable
set search_path = ''
as $$
  select project.id, project.default_branch, private.secret_value(project.webhook_secret_name)
  from public.projects as project
  where lower(project.github_repo) = lower(webhook_secrets.p_github_repo)
  order by project.id;
$$;
comment on function private.webhook_secrets(text) is
  'The projects of a repository with their webhook secrets. A push belongs to the projects whose secret verifies it. Called by quoth-sync.';

create function private.webhook_secret(p_project text)
returns table (project_id uuid, default_branch text, secret text)
language sql
stable
set search_path = ''
as $$
  select project.id, project.default_branch, private.secret_value(project.webhook_secret_name)
  from public.projects as project
  where project.slug = webhook_secret.p_project
    or project.id = substring(
      lower(webhook_secret.p_project) from '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    )::uuid
  -- A slug may look like an id, so prefer the slug.
  order by project.slug = webhook_secret.p_project
  limit 1;
$$;
comment on function private.webhook_secret(text) is
  'The project with that slug or id and its webhook secret; no row when there is none. Called by quoth-sync for a webhook whose URL names its project.';

create function private.github_token(p_project_id uuid)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_project public.projects;
  v_name text;
  v_secret text;
begin
  select * into v_project from public.projects where id = p_project_id;
  v_name := coalesce(v_project.github_token_secret_name, 'GITHUB_TOKEN');
  v_secret := private.secret_value(v_name);
  if v_secret is not null then
    perform private.assert_secret_is_bound('documents ' || v_project.slug, v_name);
  end if;
  return v_secret;
end;
$$;
comment on function private.github_token(uuid) is
  'The token for reading a project''s repository: the one that the project names, else GITHUB_TOKEN from Vault, else null. Raises SECRET_NOT_FOUND for a token that the project waits for. Called by quoth-sync.';

create function private.receive_push(p_project_id uuid, p_delivery_id text, p_commit text)
returns table (sync_id uuid, queued int)
language plpgsql
set search_path = ''
as $$
declare
  v_sync_id uuid;
begin
  perform private.hold_project(p_project_id);
  select sync.id into v_sync_id
  from private.quoth_deliveries as delivery
  join public.quoth_syncs as sync on sync.id = delivery.sync_id
  where delivery.project_id = p_project_id and delivery.delivery_id = p_delivery_id and sync.status <> 'failed';
  if found then
    return query select v_sync_id, 0;
    return;
  end if;

  v_sync_id := private.queue_tree_sync(p_project_id, 'push', p_commit);
  insert into private.quoth_deliveries (project_id, delivery_id, sync_id)
  values (p_project_id, p_delivery_id, v_sync_id)
  on conflict (project_id, delivery_id) do update
  set sync_id = excluded.sync_id, received_at = clock_timestamp();
  return query select v_sync_id, 1;
end;
$$;
comment on function private.receive_push(uuid, text, text) is
  'Queues the sync for a verified push. A repeated delivery changes nothing unless its sync failed. Called by quoth-sync.';

create function private.resume_syncs(p_project public.projects)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update public.quoth_syncs as sync
  set run_after = null
  where sync.project_id = p_project.id and sync.status = 'pending' and sync.run_after > clock_timestamp();
  perform private.resume_embedder(name)
  from unnest(array[p_project.embedder, p_project.next_embedder]) as name;
end;
$$;
comment on function private.resume_syncs(public.projects) is
  'Ends the backoff of a project''s syncs and the pause of an embedder that refused every request. An explicit request means that the cause has been fixed.';

create function private.request_sync(p_project text)
returns table (sync_id uuid, queued int)
language plpgsql
set search_path = ''
as $$
declare
  v_project public.projects := private.find_project(p_project);
begin
  if v_project.github_repo is null then
    perform private.raise_error('PROJECT_SOURCE_MISMATCH',
      format('Cannot compare project %L with its branch: it has no repository', v_project.slug),
      'Send its files, or run deno task quoth:add with --folder again.');
  end if;
  return query select private.queue_tree_sync(v_project.id, 'request'), 1;
  perform private.resume_syncs(v_project);
end;
$$;
comment on function private.request_sync(text) is
  'Requests a comparison of a project with its branch. Also ends the backoff of its syncs, retries files that failed before, and resumes an embedder that refused every request. Raises PROJECT_SOURCE_MISMATCH for a project without a repository. Called by quoth-sync, quoth:add, and when an operator saves the project.';

create function private.receive_files(p_project text, p_files jsonb)
returns table (sync_id uuid, queued int)
language plpgsql
set search_path = ''
as $$
declare
  v_project_id uuid := (private.find_project(p_project)).id;
  v_sync_id uuid;
begin
  perform private.hold_project(v_project_id);
  v_sync_id := private.queue_sync(v_project_id, 'files', 'files');
  insert into private.quoth_sync_files (sync_id, seq, action, file_path, blob_sha, size_bytes, content)
  select v_sync_id, row_number() over (order by file.content is null, file.path),
    case when file.content is null then 'delete' else 'write' end,
    file.path, file.blob_sha, octet_length(file.content), file.content
  from jsonb_to_recordset(p_files) as file (path text, blob_sha text, content text);
  return query select v_sync_id, jsonb_array_length(p_files);
end;
$$;
comment on function private.receive_files(text, jsonb) is
  'Queues files [{path, blob_sha, content}] that were sent directly; a file without content is deleted. Called by quoth-sync.';

create function private.is_head_unknown(p_project public.projects, p_older_than interval)
returns boolean
language sql
stable
set search_path = ''
as $$
  -- A project whose branch was never requested received its files directly and may have no repository.
  select (
      p_project.head_commit is not null
      or exists (
        select from public.quoth_syncs as sync where sync.project_id = p_project.id and sync.kind = 'tree'
      )
    )
    and coalesce(p_project.head_checked_at, '-infinity') < clock_timestamp() - p_older_than
    and not exists (
      select from public.quoth_syncs as sync
      where sync.project_id = p_project.id and sync.kind = 'tree'
        and (sync.finished_at is null or sync.created_at > clock_timestamp() - p_older_than)
    );
$$;
comment on function private.is_head_unknown(public.projects, interval) is
  'True when a project''s branch was not checked for that long, and no check was tried or is queued.';

create function private.request_head_check(p_project_id uuid, p_older_than interval default '10 minutes')
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  -- Skip a locked project, because a search must not wait for a running sync.
  perform from public.projects as project
  where project.id = p_project_id and private.is_head_unknown(project, p_older_than)
  for no key update skip locked;
  if not found then
    return false;
  end if;
  perform private.queue_tree_sync(p_project_id, 'head_check');
  return true;
end;
$$;
comment on function private.request_head_check(uuid, interval) is
  'Queues a check of the branch if its head was last read longer ago than p_older_than; returns whether it did. GitHub never resends a lost delivery automatically. Called by cron and by searches.';

create function private.check_head(p_project_id uuid)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
begin
  return private.request_head_check((private.readable_project(p_project_id)).id);
end;
$$;
comment on function private.check_head(uuid) is
  'See public.check_head(). Definer: members may not write syncs; readable_project() checks the caller.';

create function public.check_head(p_project_id uuid)
returns boolean
language sql
set search_path = ''
as $$
  select private.check_head(p_project_id);
$$;
comment on function public.check_head(uuid) is
  'Queues a check of whether a project''s branch has moved, if the last check is more than ten minutes old; true when it did. Searches call it. Raises PROJECT_NOT_FOUND.';
revoke all on function public.check_head(uuid) from public, anon, authenticated, service_role;
grant execute on function private.check_head(uuid), public.check_head(uuid) to authenticated, service_role;
