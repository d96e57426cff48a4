-- Rulesets: rules for writing texts, in immutable versions.

create table public.rulesets (
  id uuid primary key default private.new_id(),
  owner uuid references auth.users (id) on delete cascade,
  name text not null check (length(name) between 1 and 200),
  version int not null default 0 check (version >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
revoke all on public.rulesets from anon, authenticated, service_role;
create index rulesets_owner_idx on public.rulesets (owner, name);
comment on table public.rulesets is
  'Rulesets for enhance_prompt. Written by private.save_ruleset(); their content is in ruleset_versions.';
comment on column public.rulesets.owner is 'Who created the ruleset; null: shared, readable by every signed-in user, and saved only with the scope admin:*.';
comment on column public.rulesets.version is 'The newest version in ruleset_versions.';

alter table public.rulesets enable row level security;
create policy "users read their own rulesets and the shared ones" on public.rulesets
  for select to authenticated using (
    (owner = (select auth.uid()) or owner is null) and (select private.has_scope('ruleset:read'))
  );
comment on policy "users read their own rulesets and the shared ones" on public.rulesets is
  'An OAuth client needs ruleset:read.';
grant select on public.rulesets to authenticated;
grant select, insert, update, delete on public.rulesets to service_role;

create table public.ruleset_versions (
  ruleset_id uuid not null references public.rulesets (id) on delete cascade,
  version int not null check (version > 0),
  name text not null,
  content jsonb not null check (jsonb_typeof(content) = 'object'),
  created_by uuid references auth.users (id) on delete set null,
  created_at timestamptz not null default now(),
  primary key (ruleset_id, version)
);
revoke all on public.ruleset_versions from anon, authenticated, service_role;
create index ruleset_versions_created_by_idx on public.ruleset_versions (created_by);
comment on table public.ruleset_versions is
  'All versions of each ruleset, from 1 without gaps; rows never change.';
comment on column public.ruleset_versions.name is 'The ruleset''s name in this version.';
comment on column public.ruleset_versions.content is 'The content, as defined by the JSON schema of save_ruleset.';
comment on column public.ruleset_versions.created_by is 'Who saved the version; null: the service, or a deleted user.';

alter table public.ruleset_versions enable row level security;
create policy "users read the versions of rulesets that they read" on public.ruleset_versions
  for select to authenticated using (
    exists (
      select from public.rulesets ruleset
      where ruleset.id = ruleset_id and (ruleset.owner = (select auth.uid()) or ruleset.owner is null)
    )
    and (select private.has_scope('ruleset:read'))
  );
comment on policy "users read the versions of rulesets that they read" on public.ruleset_versions is
  'Users read the versions of the rulesets that they may read.';
grant select on public.ruleset_versions to authenticated, service_role;

create function private.refuse_version_change()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  perform private.raise_error('RULESET_VERSION_CONFLICT',
    format('Cannot change version %s of the ruleset %s: versions are immutable', old.version, old.ruleset_id),
    'Save a new version with save_ruleset.');
end;
$$;
comment on function private.refuse_version_change() is 'Row trigger: refuses changes of stored versions.';

create trigger refuse_version_change before update on public.ruleset_versions
  for each row
  when ((old.ruleset_id, old.version, old.name, old.content) is distinct from (new.ruleset_id, new.version, new.name, new.content))
  execute function private.refuse_version_change();

create function private.debit_rulesets()
returns trigger
language plpgsql
-- Operators may write rulesets too.
security definer
set search_path = ''
as $$
begin
  if tg_op = 'DELETE' then
    perform private.credit_stored('ruleset_bytes', old.owner, sum(octet_length(stored.content::text) + 200)::bigint)
    from public.ruleset_versions as stored
    where stored.ruleset_id = old.id
    having count(*) > 0;
    return old;
  end if;
  perform private.debit_stored('ruleset_bytes', (
    select ruleset.owner from public.rulesets as ruleset where ruleset.id = new.ruleset_id
  ), octet_length(new.content::text) + 200, 'save the ruleset');
  return null;
end;
$$;
comment on function private.debit_rulesets() is
  'Row trigger: counts the versions of a ruleset toward its owner''s quota ruleset_bytes, and no longer when the ruleset is deleted. Raises QUOTA_EXCEEDED. Definer: clients may not read quotas.';
create trigger ruleset_versions_debit after insert on public.ruleset_versions
  for each row execute function private.debit_rulesets();
-- Before, while its versions exist.
create trigger rulesets_credit before delete on public.rulesets
  for each row execute function private.debit_rulesets();

create function private.holds_every_scope()
returns boolean
language plpgsql
stable
set search_path = ''
as $$
declare
  v_claims constant jsonb := private.request_claims();
begin
  return auth.uid() is null and private.is_service_caller()
    or coalesce('admin:*' = any (private.caller_scopes(
      jsonb_build_object(
        'task_id', private.calling_task_id(),
        'client_id', nullif(v_claims ->> 'client_id', ''),
        'is_service', private.calling_actor() = 'service'),
      auth.uid())), true);
end;
$$;
comment on function private.holds_every_scope() is
  'True when the caller is the service or has the scope admin:*; in a task, the scopes of the task count. Unlike other scopes, a person''s own session needs it too.';

create function private.save_ruleset(p_id uuid, p_name text, p_content jsonb, p_if_match_version int)
returns jsonb
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_ruleset public.rulesets;
begin
  perform private.assert_has_scope('save the ruleset', 'ruleset:write');
  if p_id is null then
    if p_if_match_version > 0 then
      return jsonb_build_object('outcome', 'conflict', 'current_version', 0);
    end if;
    insert into public.rulesets (owner, name) values (auth.uid(), p_name) returning * into v_ruleset;
  else
    -- The lock serializes writers: each sees the version of the previous one.
    select * into v_ruleset
    from public.rulesets
    where id = p_id and (owner = auth.uid() or owner is null or auth.uid() is null)
    for no key update;
    if not found then
      return jsonb_build_object('outcome', 'not_found');
    end if;
    if v_ruleset.owner is null and not private.holds_every_scope() then
      return jsonb_build_object('outcome', 'forbidden');
    end if;
    if p_if_match_version <> v_ruleset.version then
      return jsonb_build_object('outcome', 'conflict', 'current_version', v_ruleset.version);
    end if;
  end if;

  update public.rulesets
  set version = version + 1, name = coalesce(p_name, name), updated_at = clock_timestamp()
  where id = v_ruleset.id
  returning * into v_ruleset;
  insert into public.ruleset_versions (ruleset_id, version, name, content, created_by)
  values (v_ruleset.id, v_ruleset.version, v_ruleset.name, p_content, auth.uid());
  return jsonb_build_object('outcome', 'saved', 'id', v_ruleset.id, 'version', v_ruleset.version);
end;
$$;
comment on function private.save_ruleset(uuid, text, jsonb, int) is
  'Adds a version to a ruleset, or without an id creates a ruleset of the caller (a ruleset of the service is shared). Returns {outcome: saved, id, version}; {outcome: conflict, current_version} when p_if_match_version (null: any) is not the current version; {outcome: not_found}; or {outcome: forbidden} for a shared ruleset without admin:*. Definer: users may not write the tables; the function changes only rulesets that auth.uid() may save. Raises INSUFFICIENT_SCOPE. Called by the server catalog.';
grant execute on function private.save_ruleset(uuid, text, jsonb, int) to authenticated, service_role;
