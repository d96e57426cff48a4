-- Adding projects, by the command quoth:add.

create function private.add_project(
  p_slug text, p_github_repo text, p_branch text, p_globs jsonb, p_language text, p_embedder text, p_secret text
)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_project public.projects;
  v_is_new boolean := not exists (select from public.projects where slug = p_slug);
  v_repo text := (select github_repo from public.projects where slug = p_slug);
  v_secret text;
begin
  if p_github_repo is null and v_repo is not null then
    perform private.raise_error('PROJECT_SOURCE_MISMATCH',
      format('Cannot index a folder as project %L: the project follows the repository %s', p_slug, v_repo),
      'Choose another slug, or remove the project with deno task quoth:remove.');
  end if;
  insert into public.projects as project (slug, github_repo, default_branch, include_globs, language, embedder)
  values (
    p_slug, p_github_repo, coalesce(p_branch, 'main'),
    coalesce((select array_agg(glob) from jsonb_array_elements_text(p_globs) as glob), '{**/*.md,**/*.mdx}'),
    coalesce(p_language, 'english'), p_embedder
  )
  on conflict (slug) do update
  set github_repo = excluded.github_repo,
      -- Null arguments keep the current value.
      default_branch = coalesce(p_branch, project.default_branch),
      include_globs = coalesce(
        (select array_agg(glob) from jsonb_array_elements_text(p_globs) as glob), project.include_globs
      ),
      language = coalesce(p_language, project.language),
      embedder = coalesce(project.embedder, p_embedder),
      next_embedder = case
        when p_embedder is null or project.embedder is null then project.next_embedder
        when p_embedder = project.embedder then null
        else p_embedder
      end
  returning * into v_project;

  if v_project.github_repo is not null and v_project.webhook_secret_name is null then
    update public.projects set webhook_secret_name = format('supaswarm/project/%s/webhook_secret', v_project.id)
    where id = v_project.id
    returning * into v_project;
  end if;
  v_secret := private.secret_value(v_project.webhook_secret_name);
  if v_project.github_repo is not null and v_secret is null then
    v_secret := p_secret;
    perform private.set_secret(v_project.webhook_secret_name, v_secret, 'Signs the webhook of ' || v_project.github_repo);
  end if;
  return jsonb_build_object(
    'project_id', v_project.id,
    'is_new', v_is_new,
    'slug', v_project.slug,
    'github_repo', v_project.github_repo,
    'default_branch', v_project.default_branch,
    'include_globs', to_jsonb(v_project.include_globs),
    'embedder', v_project.embedder,
    'next_embedder', v_project.next_embedder,
    'webhook_secret', v_secret,
    'project_url', (select value from private.settings where key = 'project_url')
  );
end;
$$;
comment on function private.add_project(text, text, text, jsonb, text, text, text) is
  'Adds a project, or changes the given properties of the project with that slug; null keeps a property. A project without p_github_repo gets its files directly and has no webhook secret. An embedder other than the current one starts a switch. p_secret signs the webhook unless the project already has a secret. Returns the project with its secret. Raises PROJECT_SOURCE_MISMATCH. Called by quoth:add, and when an operator saves the project.';

create function private.add_project_member(p_project_id uuid, p_user text)
returns uuid
language plpgsql
set search_path = ''
as $$
declare
  v_user_id uuid := (
    select id from auth.users where lower(email) = lower(p_user) or id::text = lower(p_user) order by created_at limit 1
  );
begin
  if v_user_id is null then
    perform private.raise_error('USER_NOT_FOUND',
      format('Cannot add the member: no user has the email or id %L', p_user),
      'Let them sign up first, or read the ids from auth.users.');
  end if;
  insert into public.project_members (project_id, user_id) values (p_project_id, v_user_id)
  on conflict (project_id, user_id) do nothing;
  return v_user_id;
end;
$$;
comment on function private.add_project_member(uuid, text) is
  'Lets a user, given by email or id, read a project; returns the user''s id. Raises USER_NOT_FOUND. Called by quoth:add, and when an operator saves the project.';

create function private.set_github_token(p_project_id uuid, p_token text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_name text := 'GITHUB_TOKEN';
begin
  perform private.assert_secret_is_valid(p_token);
  if p_project_id is not null then
    v_name := format('supaswarm/project/%s/github_token', p_project_id);
    update public.projects set github_token_secret_name = v_name where id = p_project_id;
  end if;
  perform private.set_secret(v_name, p_token, 'Reads repositories of GitHub');
end;
$$;
comment on function private.set_github_token(uuid, text) is
  'Stores in Vault the token for reading a project''s repository, or (null project) the token for all projects without their own. Raises SECRET_INVALID. Called by quoth:add.';

create function private.token_in_use(p_project_id uuid)
returns text
language sql
stable
set search_path = ''
as $$
  select case
    when private.github_token(project.id) is null then null
    when project.github_token_secret_name is null then 'default'
    else 'own'
  end
  from public.projects as project
  where project.id = token_in_use.p_project_id;
$$;
comment on function private.token_in_use(uuid) is
  'Which token a project''s repository is read with: its own, the default one, or (null) none. Called by quoth:add.';

create function private.delete_project_secrets()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from vault.secrets where name like format('supaswarm/project/%s/%%', old.id);
  return null;
end;
$$;
comment on function private.delete_project_secrets() is
  'Row trigger: deletes a project''s webhook secret and token from Vault with the project. Definer: the role that deletes a project may not write to Vault.';
create trigger delete_project_secrets after delete on public.projects
  for each row execute function private.delete_project_secrets();
