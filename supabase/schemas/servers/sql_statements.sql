-- The policy of the SQL tools, and the writes that wait for a confirmation.

create table private.sql_policy (
  is_only_row boolean primary key default true check (is_only_row),
  version int not null default 1,
  exposed_schemas text[] not null default '{public}',
  read_functions text[] not null default '{}',
  write_functions text[] not null default '{}',
  confirmable_definitions text[] not null default '{
    AlterDomainStmt, AlterEnumStmt, AlterObjectSchemaStmt, AlterSeqStmt, AlterTableStmt, CommentStmt,
    CompositeTypeStmt, CreateDomainStmt, CreateEnumStmt, CreateSeqStmt, CreateStatsStmt, CreateStmt, DropStmt,
    IndexStmt, RenameStmt, ViewStmt
  }',
  definitions_need_approval boolean not null default true,
  unfiltered_writes_need_approval boolean not null default false,
  max_rows int not null default 1000 check (max_rows between 1 and 10000),
  max_bytes int not null default 1000000 check (max_bytes between 1000 and 4000000),
  max_export_rows int not null default 100000 check (max_export_rows between 1 and 1000000),
  max_export_bytes int not null default 10485760 check (max_export_bytes between 1000 and 20971520),
  max_affected_rows int not null default 10000 check (max_affected_rows > 0),
  statement_timeout_ms int not null default 30000 check (statement_timeout_ms between 1 and 120000),
  confirmation_seconds int not null default 300 check (confirmation_seconds between 10 and 86400)
);
comment on table private.sql_policy is
  'What execute_sql allows, in one row. Changed by operators; every change invalidates the tokens of the previous version.';
comment on column private.sql_policy.version is 'Incremented by every change. A confirmation is valid for one version.';
comment on column private.sql_policy.exposed_schemas is 'Schemas whose relations statements may name.';
comment on column private.sql_policy.read_functions is
  'The project''s own functions that reads may call, as schema.name. A security definer function gives every caller the data that it reads.';
comment on column private.sql_policy.write_functions is 'The project''s own functions that make a statement a write, as schema.name.';
comment on column private.sql_policy.confirmable_definitions is
  'Kinds of statements of the class ddl that an operator can run after confirming them, named by the root of their syntax tree. A kind that definition_limits.ts does not have never runs.';
comment on column private.sql_policy.definitions_need_approval is 'When true, a person must approve ddl with approve_statement().';
comment on column private.sql_policy.unfiltered_writes_need_approval is
  'When true, a person must approve an UPDATE or DELETE without WHERE, or whose WHERE names no column, with approve_statement().';
comment on column private.sql_policy.max_rows is 'Most rows in one answer.';
comment on column private.sql_policy.max_bytes is 'Most bytes of rows in one answer, as JSON.';
comment on column private.sql_policy.max_export_rows is 'Most rows in one exported file.';
comment on column private.sql_policy.max_export_bytes is 'Most bytes of one exported file. The bucket accepts 20 MiB.';
comment on column private.sql_policy.max_affected_rows is 'Most rows that one write may change, regardless of its estimate.';
comment on column private.sql_policy.confirmation_seconds is 'How long a token is valid.';

alter table private.sql_policy enable row level security;
insert into private.sql_policy default values;

create function private.count_sql_policy_version()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.version := old.version + 1;
  return new;
end;
$$;
comment on function private.count_sql_policy_version() is 'Row trigger: increments the version with every change of the policy.';
create trigger count_sql_policy_version before update on private.sql_policy
  for each row execute function private.count_sql_policy_version();

create function private.read_sql_policy()
returns jsonb
language sql
stable
set search_path = ''
as $$
  select to_jsonb(policy) - 'is_only_row' || jsonb_build_object('context_version', private.sql_context_version())
  from private.sql_policy as policy;
$$;
comment on function private.read_sql_policy() is 'The policy as JSON, with context_version, the current version of the SQL context. Called by the SQL tools as the functions'' own role.';

create table public.sql_confirmations (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique,
  user_id uuid not null references auth.users (id) on delete cascade,
  client_id text not null,
  is_agents boolean not null default false,
  tree_hash bytea not null,
  params_hash bytea not null,
  statement_class text not null check (statement_class in ('write', 'ddl')),
  statement text not null,
  tables text[] not null,
  policy_version int not null,
  estimated_rows bigint,
  max_rows int not null,
  needs_approval boolean not null,
  is_approved boolean,
  decided_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  idempotency_key text,
  answer jsonb,
  constraint sql_confirmations_decision_has_time check ((is_approved is null) = (decided_at is null)),
  constraint sql_confirmations_use_has_key check ((used_at is null) = (idempotency_key is null)),
  constraint sql_confirmations_answer_after_use check (answer is null or used_at is not null)
);
revoke all on public.sql_confirmations from anon, authenticated, service_role;
create index sql_confirmations_user_id_idx on public.sql_confirmations (user_id, created_at);
create unique index sql_confirmations_idempotency_key_idx on public.sql_confirmations (user_id, idempotency_key);
comment on table public.sql_confirmations is
  'Writes that a dry run has shown. Each can run once, by its user, with the token whose hash is stored here.';
comment on column public.sql_confirmations.token_hash is 'SHA-256 of the token.';
comment on column public.sql_confirmations.client_id is 'OAuth client through which the user called; empty for none.';
comment on column public.sql_confirmations.is_agents is
  'An agent''s write that a person or a rule has approved. Its token never leaves the platform, and no agent can use another one.';
comment on column public.sql_confirmations.tree_hash is 'SHA-256 of the canonical syntax tree. Differences in spelling do not change it; different constants do.';
comment on column public.sql_confirmations.params_hash is 'SHA-256 of the parameters as canonical JSON.';
comment on column public.sql_confirmations.max_rows is 'A write that changes more rows than this is rolled back.';
comment on column public.sql_confirmations.is_approved is 'The owner''s decision by approve_statement(); null: none yet.';
comment on column public.sql_confirmations.idempotency_key is 'Key of the call that used the token; the same call gets the same answer again.';

alter table public.sql_confirmations enable row level security;
create policy "users read their own confirmations" on public.sql_confirmations
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('sql:read'))
  );
comment on policy "users read their own confirmations" on public.sql_confirmations is
  'Shows the owner which statements wait for approve_statement().';
grant select (
  id, user_id, client_id, is_agents, statement_class, statement, tables, policy_version, estimated_rows, max_rows,
  needs_approval, is_approved, decided_at, created_at, expires_at, used_at
) on public.sql_confirmations to authenticated;
grant select, insert, update, delete on public.sql_confirmations to service_role;

create function private.offer_sql_confirmation(p_offer jsonb)
returns jsonb
language sql
set search_path = ''
as $$
  insert into public.sql_confirmations (
    token_hash, user_id, client_id, is_agents, tree_hash, params_hash, statement_class, statement, tables,
    policy_version, estimated_rows, max_rows, needs_approval, is_approved, decided_at, expires_at
  )
  select
    decode(p_offer ->> 'token_hash', 'hex'),
    (p_offer ->> 'user_id')::uuid,
    p_offer ->> 'client_id',
    offered.is_agents,
    decode(p_offer ->> 'tree_hash', 'hex'),
    decode(p_offer ->> 'params_hash', 'hex'),
    p_offer ->> 'statement_class',
    p_offer ->> 'statement',
    array(select jsonb_array_elements_text(p_offer -> 'tables')),
    policy.version,
    (p_offer ->> 'estimated_rows')::bigint,
    (p_offer ->> 'max_rows')::int,
    (p_offer ->> 'needs_approval')::boolean,
    case when offered.is_agents then true end,
    case when offered.is_agents then now() end,
    now() + make_interval(secs => policy.confirmation_seconds)
  from private.sql_policy as policy
  cross join (select coalesce((p_offer ->> 'is_agents')::boolean, false) as is_agents) as offered
  returning jsonb_build_object('id', id, 'expires_at', expires_at);
$$;
comment on function private.offer_sql_confirmation(jsonb) is
  'Stores the result of a write''s dry run, with the hash of its token. Called by the SQL tools as the functions'' own role.';

create function private.find_sql_answer(p_user_id uuid, p_idempotency_key text, p_tree_hash text, p_params_hash text)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select answer
  from public.sql_confirmations
  where user_id = p_user_id
    and idempotency_key = p_idempotency_key
    and tree_hash = decode(p_tree_hash, 'hex')
    and params_hash = decode(p_params_hash, 'hex');
$$;
comment on function private.find_sql_answer(uuid, text, text, text) is
  'The answer of a write that this same call has already committed; null: it has not. Called by the SQL tools as the functions'' own role.';

create function private.spend_sql_confirmation(
  p_token_hash text, p_client_id text, p_tree_hash text, p_params_hash text, p_idempotency_key text
)
returns jsonb
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_spent public.sql_confirmations;
begin
  update public.sql_confirmations as confirmation
  set used_at = clock_timestamp(), idempotency_key = p_idempotency_key
  from private.sql_policy as policy
  where confirmation.token_hash = decode(p_token_hash, 'hex')
    and confirmation.user_id = auth.uid()
    and confirmation.client_id = p_client_id
    and confirmation.is_agents = private.is_agent_call()
    and confirmation.tree_hash = decode(p_tree_hash, 'hex')
    and confirmation.params_hash = decode(p_params_hash, 'hex')
    and confirmation.policy_version = policy.version
    and confirmation.used_at is null
    and confirmation.expires_at > clock_timestamp()
    and confirmation.is_approved is distinct from false
  returning confirmation.* into v_spent;
  if not found then
    perform private.raise_error('CONFIRMATION_INVALID',
      'Cannot run the write: its confirmation_token was used, has expired, was rejected, or belongs to another user, client, agent, statement, parameters or policy',
      'Run the statement with dry_run: true and send the next_call from the response.');
  end if;
  if v_spent.needs_approval and v_spent.is_approved is null then
    perform private.raise_error('APPROVAL_REQUIRED',
      format('Cannot run the write: statement %s waits for its owner''s approval', v_spent.id),
      format('Ask the owner to call approve_statement(''%s'', true), then send the same call again.', v_spent.id));
  end if;
  return jsonb_build_object('id', v_spent.id, 'max_rows', v_spent.max_rows);
exception when unique_violation then
  perform private.raise_error('CONFIRMATION_INVALID',
    'Cannot run the write: its idempotency_key belongs to an earlier write of yours, with other values or another token',
    'Repeat the earlier call to get its answer, or send this write with a new idempotency_key.');
  -- For the linter: raise_error() does not return.
  return null;
end;
$$;
comment on function private.spend_sql_confirmation(text, text, text, text, text) is
  'Uses a token up in the transaction of its write, so that it is used exactly when the write commits. Definer: it runs between the caller''s statements, and callers have no right on the hashes; it only accepts confirmations of auth.uid(). Raises CONFIRMATION_INVALID, APPROVAL_REQUIRED.';
grant execute on function private.spend_sql_confirmation(text, text, text, text, text) to authenticated;

create function private.record_sql_answer(p_confirmation_id uuid, p_answer jsonb)
returns void
language sql
security definer
set search_path = ''
as $$
  update public.sql_confirmations
  set answer = p_answer
  where id = p_confirmation_id
    and user_id = auth.uid()
    and used_at is not null
    and answer is null;
$$;
comment on function private.record_sql_answer(uuid, jsonb) is
  'Stores a write''s answer with its confirmation, in the transaction of the write. Definer, like private.spend_sql_confirmation(); it writes once, to a confirmation that auth.uid() has used.';
grant execute on function private.record_sql_answer(uuid, jsonb) to authenticated;

create function private.assert_asked_by_another(p_confirmation_id uuid)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if private.calling_actor() = 'client' and exists (
    select from public.sql_confirmations
    where id = p_confirmation_id and user_id = auth.uid()
      and client_id = private.request_claims() ->> 'client_id'
  ) then
    perform private.raise_error('FORBIDDEN',
      format('Cannot approve statement %s: a client cannot approve a statement that it requested itself', p_confirmation_id),
      'Let the owner approve it in their own session, or through another client.');
  end if;
end;
$$;
comment on function private.assert_asked_by_another(uuid) is
  'Raises FORBIDDEN when an OAuth client tries to approve its own statement.';

create function private.approve_statement(p_confirmation_id uuid, p_approved boolean)
returns text
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.assert_person_may('decide about the statement', 'sql:write');
  if p_approved is null then
    perform private.raise_error('REVIEW_ANSWER_INVALID', 'Cannot decide about the statement: p_approved is null',
      'Send true or false.');
  end if;
  if p_approved then
    perform private.assert_asked_by_another(p_confirmation_id);
  end if;
  update public.sql_confirmations
  set is_approved = p_approved, decided_at = clock_timestamp()
  where id = p_confirmation_id
    and (user_id = auth.uid() or private.is_service_caller())
    and used_at is null
    and expires_at > clock_timestamp()
    -- A rejection is final.
    and is_approved is distinct from false;
  if not found then
    perform private.raise_error('CONFIRMATION_NOT_FOUND',
      format('Cannot decide about statement %s: you have no statement with this id that waits for approval', p_confirmation_id),
      'It may have been used or rejected, or it has expired. sql_confirmations lists your statements.');
  end if;
  return case when p_approved then 'approved' else 'rejected' end;
end;
$$;
comment on function private.approve_statement(uuid, boolean) is
  'Approves or rejects a waiting write. Definer: users may not write confirmations; the function checks the caller itself.';

create function public.approve_statement(p_confirmation_id uuid, p_approved boolean)
returns text
language sql
set search_path = ''
as $$
  select private.approve_statement(p_confirmation_id, p_approved);
$$;
comment on function public.approve_statement(uuid, boolean) is
  'Approves or rejects a write of execute_sql that waits for its owner; the holder of its token can then run it. Returns approved or rejected. For the owner, the owner''s OAuth clients with the scope sql:write, which cannot approve their own requests, and the service; never for an agent. Raises CONFIRMATION_NOT_FOUND, FORBIDDEN, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.approve_statement(uuid, boolean) from public, anon, authenticated, service_role;
grant execute on function private.approve_statement(uuid, boolean), public.approve_statement(uuid, boolean)
  to authenticated, service_role;
