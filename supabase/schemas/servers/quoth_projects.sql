-- Projects of Quoth: repositories and folders whose Markdown can be searched, and their members.

create table public.projects (
  id uuid primary key default gen_random_uuid(),
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  github_repo text check (github_repo ~ '^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$'),
  default_branch text not null default 'main' check (length(default_branch) between 1 and 255),
  language text not null default 'english',
  include_globs text[] not null default '{**/*.md,**/*.mdx}',
  embedder text references public.embedders (name),
  next_embedder text references public.embedders (name),
  indexed_commit text,
  indexed_at timestamptz,
  head_commit text,
  head_checked_at timestamptz,
  github_url text,
  webhook_secret_name text,
  github_token_secret_name text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint projects_switches_to_another check (next_embedder <> embedder),
  constraint projects_switches_from_one check (next_embedder is null or embedder is not null)
);
revoke all on public.projects from anon, authenticated, service_role;
create index projects_github_repo_idx on public.projects (lower(github_repo));
create index projects_embedder_idx on public.projects (embedder);
create index projects_next_embedder_idx on public.projects (next_embedder) where next_embedder is not null;
comment on table public.projects is
  'Repositories and folders whose Markdown Quoth serves. Written by the service role; members may read.';
comment on column public.projects.github_repo is 'owner/name. Several projects may index one repository. Null: the files are sent directly, such as those of a local folder.';
comment on column public.projects.language is
  'Text-search configuration of Postgres that stems documents and queries, such as english, spanish or simple.';
comment on column public.projects.include_globs is 'Glob patterns of the paths to index.';
comment on column public.projects.embedder is
  'The vector space that searches use. Null until the first indexed document sets it; afterwards only a switch through next_embedder changes it.';
comment on column public.projects.next_embedder is
  'Set it to switch: documents are embedded for it in the background while embedder still serves. Null again when the switch is complete or abandoned.';
comment on column public.projects.indexed_commit is 'The commit that the documents correspond to.';
comment on column public.projects.head_commit is 'The branch''s newest commit at the last check.';
comment on column public.projects.github_url is 'Web address of the repository''s GitHub, such as https://github.com; set once its branch has been read.';
comment on column public.projects.webhook_secret_name is 'Name in Vault of the secret that signs the webhook. Not readable by users.';
comment on column public.projects.github_token_secret_name is 'Name in Vault of the token for a private repository. Not readable by users.';

create trigger touch_updated_at before update on public.projects
  for each row execute function private.touch_updated_at();

create table public.project_members (
  project_id uuid not null references public.projects (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete cascade,
  role text not null default 'member' check (length(role) between 1 and 63),
  created_at timestamptz not null default now(),
  primary key (project_id, user_id)
);
revoke all on public.project_members from anon, authenticated, service_role;
create index project_members_user_id_idx on public.project_members (user_id);
comment on table public.project_members is 'Who may read a project''s documents. Written by the service role.';
comment on column public.project_members.role is 'For use by applications; every member may read the whole project.';

alter table public.projects enable row level security;
alter table public.project_members enable row level security;
create policy "users read their own memberships" on public.project_members
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('quoth:read'))
  );
comment on policy "users read their own memberships" on public.project_members is
  'Users see which projects they belong to; all other policies of Quoth read this table.';
create policy "members read their projects" on public.projects
  for select to authenticated using (
    id in (select membership.project_id from public.project_members as membership where membership.user_id = (select auth.uid()))
  );
comment on policy "members read their projects" on public.projects is
  'Members list their projects. Only columns without names of secrets are granted.';
grant select on public.project_members to authenticated;
grant select (id, slug, github_repo, default_branch, language, include_globs, embedder, next_embedder, indexed_commit,
  indexed_at, head_commit, head_checked_at, github_url, created_at, updated_at) on public.projects to authenticated;
grant select, insert, update, delete on public.projects, public.project_members to service_role;

create function private.assert_language_is_known()
returns trigger
language plpgsql
stable
set search_path = ''
as $$
begin
  if not exists (
    select from pg_catalog.pg_ts_config as config where config.oid::regconfig::text = new.language
  ) then
    perform private.raise_error('PROJECT_LANGUAGE_UNKNOWN',
      format('Cannot use the language %L for project %L: Postgres has no such text-search configuration', new.language, new.slug),
      'Configurations are ' || (
        select string_agg(config.cfgname, ', ' order by config.cfgname) from pg_catalog.pg_ts_config as config
      ) || '; simple stems nothing.');
  end if;
  return new;
end;
$$;
comment on function private.assert_language_is_known() is
  'Row trigger of projects: raises PROJECT_LANGUAGE_UNKNOWN unless the language is a text-search configuration.';

create trigger assert_language_is_known before insert or update of language on public.projects
  for each row execute function private.assert_language_is_known();

create function private.assert_embedder_is_known()
returns trigger
language plpgsql
stable
set search_path = ''
as $$
declare
  v_unknown text := (
    select given.name from unnest(array[new.embedder, new.next_embedder]) as given (name)
    where given.name is not null
      and not exists (select from public.embedders as embedder where embedder.name = given.name)
    limit 1
  );
begin
  if v_unknown is not null then
    perform private.raise_error('EMBEDDER_NOT_FOUND',
      format('Cannot use embedder %L for project %L: no embedder has this name', v_unknown, new.slug),
      'Embedders are ' || (
        select string_agg(embedder.name, ', ' order by embedder.name) from public.embedders as embedder where embedder.is_active
      ) || '.');
  end if;
  return new;
end;
$$;
comment on function private.assert_embedder_is_known() is
  'Row trigger of projects: raises EMBEDDER_NOT_FOUND with the existing names, before the foreign key fails without them.';

create trigger assert_embedder_is_known before insert or update of embedder, next_embedder on public.projects
  for each row execute function private.assert_embedder_is_known();

create function private.find_project(p_project text, p_user_id uuid default null)
returns public.projects
language plpgsql
stable
set search_path = ''
as $$
declare
  v_project public.projects;
begin
  select project.* into v_project
  from public.projects as project
  where (
      project.slug = p_project
      or project.id = substring(lower(p_project) from '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$')::uuid
    )
    and (
      p_user_id is null
      or exists (
        select from public.project_members as membership
        where membership.project_id = project.id and membership.user_id = p_user_id
      )
    )
  -- A slug may look like an id, so prefer the slug.
  order by project.slug = p_project
  limit 1;
  if not found then
    perform private.raise_error('PROJECT_NOT_FOUND',
      format('Cannot use project %L: it does not exist, or you are not a member', left(p_project, 100)),
      'Read the slugs and ids of your projects from the table projects, and its members from project_members.');
  end if;
  return v_project;
end;
$$;
comment on function private.find_project(text, uuid) is
  'The project with that id or slug of which the user is a member; a null p_user_id is the service, which reads all projects. Raises PROJECT_NOT_FOUND.';

create function private.readable_project(p_project_id uuid)
returns public.projects
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_has_scope('read the project', 'quoth:read');
  -- A caller without a user must not pass as the service, so pass an id that no user has.
  return private.find_project(
    p_project_id::text,
    case when private.is_service_caller() then null
         else coalesce(auth.uid(), '00000000-0000-0000-0000-000000000000'::uuid) end
  );
end;
$$;
comment on function private.readable_project(uuid) is
  'The project, if the caller is the service or a member. Raises PROJECT_NOT_FOUND, or INSUFFICIENT_SCOPE for an OAuth client without quoth:read. Definer: it is called by definer functions and reads columns that members may not.';
