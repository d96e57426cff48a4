-- Shared by the tests: factories and functions that act as a given role. Installed for the whole run.
do $$
begin
  if not exists (select from pg_catalog.pg_extension where extname = 'pgtap') then
    create extension pgtap with schema extensions;
  end if;
end;
$$;
create schema if not exists tests;
grant usage on schema tests to anon, authenticated, service_role;

create or replace function tests.user_id(p_name text)
returns uuid
language sql
immutable
as $$ select md5('user ' || p_name)::uuid $$;

create or replace function tests.create_user(p_name text)
returns uuid
language sql
as $$
  insert into auth.users (id, email, aud, role)
  values (tests.user_id(p_name), p_name || '@example.test', 'authenticated', 'authenticated')
  on conflict (id) do nothing;
  select tests.user_id(p_name);
$$;

create or replace function tests.create_provider(p_name text, p_requires_key boolean default false)
returns uuid
language sql
as $$
  insert into public.llm_providers (name, display_name, default_model, requires_api_key, api_key_secret_name)
  values (p_name, p_name, 'test-model', p_requires_key, case when p_requires_key then upper(p_name) || '_KEY' end)
  on conflict (name) do nothing;
  select id from public.llm_providers where name = p_name;
$$;

create or replace function tests.create_agent(p_slug text)
returns uuid
language sql
as $$
  insert into public.agents (name, slug, system_prompt, provider_id)
  values (p_slug, p_slug, 'You are under test.', tests.create_provider('test'))
  on conflict (slug) do nothing;
  select id from public.agents where slug = p_slug;
$$;

create or replace function tests.create_task(p_budget jsonb default null, p_owner text default 'owner', p_priority text default 'normal')
returns uuid
language sql
as $$
  select tests.create_user(p_owner);
  select tests.create_agent('worker-agent');
  select task_id from private.create_task(
    'worker-agent', '{"question": "?"}', tests.user_id(p_owner),
    p_budget => p_budget, p_priority => p_priority
  );
$$;

-- Claims every due task, for workers that write the first steps themselves, and returns the epoch of the given one.
create or replace function tests.claim(p_task_id uuid, p_worker_id text default 'w1')
returns bigint
language plpgsql
as $$
declare
  v_ids constant uuid[] := array(select task_id from private.claim_tasks(p_worker_id, 50, 30));
begin
  delete from public.task_steps as step
  using public.tasks as task
  where step.task_id = any (v_ids) and task.id = step.task_id
    and step.seq = 1 and step.state = 'started' and step.epoch = task.epoch;
  return (select epoch from public.tasks where id = p_task_id and id = any (v_ids));
end;
$$;

-- Creates a running parent with as many running children and returns the parent.
create or replace function tests.create_family(p_children int)
returns uuid
language plpgsql
as $$
declare
  v_parent uuid := tests.create_task();
  v_epoch bigint := tests.claim(v_parent);
  v_subtasks jsonb := (
    select jsonb_agg(jsonb_build_object('seq', n + 1, 'agent', 'worker-agent', 'input', '{}'::jsonb))
    from generate_series(1, p_children) as n
  );
begin
  perform private.record_steps(v_parent, v_epoch, 30,
    '[{"seq": 1, "kind": "model", "state": "done", "output": {"text": "", "tool_calls": []}}]',
    (
      select jsonb_agg(jsonb_build_object(
        'seq', n + 1, 'kind', 'system', 'name', 'create_subtask', 'call_id', 'c' || n))
      from generate_series(1, p_children) as n
    ));
  perform private.spawn_subtasks(v_parent, v_epoch, 30, v_subtasks);
  return v_parent;
end;
$$;

-- Creates a family of two whose channels have different hashes, so that joining one does not join another.
create or replace function tests.family_with_own_channels()
returns uuid
language plpgsql
as $$
declare
  v_parent uuid;
begin
  loop
    v_parent := tests.create_family(1);
    exit when (
      select count(distinct private.joined_channels(channel.topic)) = count(distinct channel.topic)
      from public.tasks as task
      cross join lateral (
        select 'supaswarm:task:' || task.id
        union select 'supaswarm:master:' || task.master_task_id
        union select 'supaswarm:user:' || task.created_by
      ) as channel (topic)
      where task.master_task_id = v_parent
    );
    delete from public.tasks where id = v_parent;
  end loop;
  return v_parent;
end;
$$;

create or replace function tests.epoch_of(p_task_id uuid)
returns bigint
language sql
as $$ select epoch from public.tasks where id = p_task_id $$;

-- The worker of a task dies, and another sends its heartbeat.
create or replace function tests.expire_lease(p_task_id uuid)
returns void
language sql
as $$
  update public.tasks set lease_expires_at = clock_timestamp() - interval '1 second' where id = p_task_id;
  select private.return_expired_tasks();
$$;

create or replace function tests.act_as_user(p_name text)
returns void
language sql
as $$
  select set_config('request.jwt.claims',
    jsonb_build_object('sub', tests.user_id(p_name), 'role', 'authenticated')::text, true);
  select set_config('role', 'authenticated', true);
$$;

create or replace function tests.act_as_anon()
returns void
language sql
as $$
  select set_config('request.jwt.claims', '{"role": "anon"}', true);
  select set_config('role', 'anon', true);
$$;

create or replace function tests.act_as_service()
returns void
language sql
as $$
  select set_config('request.jwt.claims', '{"role": "service_role"}', true);
  select set_config('role', 'service_role', true);
$$;

create or replace function tests.act_as_nobody()
returns void
language sql
as $$
  select set_config('role', 'none', true);
  select set_config('request.jwt.claims', '', true);
$$;

insert into public.embedders (name, api, model, model_dimensions, window_tokens, max_batch_items)
select name, 'google', 'm', 768, 480, 100 from unnest(array['space', 'next', 'first', 'second']) as name
on conflict (name) do nothing;

-- Creates a Quoth project whose member is the user with that name.
create or replace function tests.create_project(p_slug text, p_member text default 'owner', p_embedder text default 'space')
returns uuid
language sql
as $$
  insert into public.projects (slug, github_repo, embedder) values (p_slug, 'acme/' || p_slug, p_embedder);
  insert into public.project_members (project_id, user_id)
  select id, tests.create_user(p_member) from public.projects where slug = p_slug;
  select id from public.projects where slug = p_slug;
$$;

-- Chunks in the form that the sync passes, one per text; equal texts have equal hashes.
create or replace function tests.chunks(variadic p_texts text[])
returns jsonb
language sql
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'content', text, 'embedded_text', E'Title\n\n' || text, 'chunk_hash', md5(text),
    'start_line', place, 'end_line', place, 'token_count', 5) order by place), '[]')
  from unnest(p_texts) with ordinality as chunk (text, place);
$$;

create or replace function tests.write_document(p_project_id uuid, p_file_path text, variadic p_texts text[])
returns jsonb
language sql
as $$
  select private.replace_document(p_project_id, jsonb_build_object(
    'file_path', p_file_path, 'title', 'Title', 'content', array_to_string(p_texts, E'\n'),
    'checksum', md5(array_to_string(p_texts, E'\n')), 'commit_sha', 'c0ffee'),
    (select embedder from public.projects where id = p_project_id), tests.chunks(variadic p_texts));
$$;

-- Returns a vector for a text; the greater the share, the closer it is to the first axis.
create or replace function tests.vector(p_text text, p_share double precision default 0)
returns extensions.vector
language sql
as $$
  select array_agg((case when n = 0 then p_share else 0 end
    + case when n = 1 + abs(hashtext(p_text)) % 767 then 1 - p_share else 0 end)::real order by n)::extensions.vector
  from generate_series(0, 767) as n;
$$;

-- Gives every pending chunk of the project the vector of its text.
create or replace function tests.embed(p_project_id uuid)
returns bigint
language sql
as $$
  select count(*)
  from private.embedding_backlog() as backlog
  cross join lateral (
    select private.record_embeddings(p_project_id, backlog.embedder, jsonb_agg(jsonb_build_object(
      'chunk_hash', claim.chunk_hash, 'embedding', tests.vector(split_part(claim.embedded_text, E'\n\n', 2))::text::jsonb)))
    from private.claim_chunks(p_project_id, backlog.embedder, 100, 30) as claim
  ) as stored
  where backlog.project_id = p_project_id;
$$;

-- Puts Realtime in the state where nobody has joined a channel and nothing was sent recently.
-- Sequences are not rolled back, so a test that counts messages calls this first.
create or replace function tests.quiet_realtime()
returns void
language sql
as $$
  select setval('private.realtime_messages', 1), setval('private.channels_joined_until', 1), (
    select max(setval(format('private.joined_channels_%s', place)::regclass, 1)) from generate_series(0, 127) as place
  );
$$;

-- Joins a channel with the check that Realtime makes; the policy's effects are rolled back with the test.
create or replace function tests.join_channel(p_user text, p_topic text)
returns boolean
language plpgsql
as $$
declare
  v_may_read boolean;
begin
  begin
    insert into realtime.messages (topic, extension) values (p_topic, 'broadcast');
    perform tests.act_as_user(p_user), set_config('realtime.topic', p_topic, true);
    v_may_read := exists (select from realtime.messages where topic = p_topic and event is null);
    raise exception using errcode = 'SWUND';
  exception
    when sqlstate 'SWUND' then null;
  end;
  return v_may_read;
end;
$$;

-- Runs a statement and returns the stable code that it raises, or 'none'.
create or replace function tests.code_of(p_statement text)
returns text
language plpgsql
as $$
declare
  v_detail text;
  v_state text;
begin
  execute p_statement;
  return 'none';
exception when others then
  get stacked diagnostics v_detail = pg_exception_detail, v_state = returned_sqlstate;
  return case when v_state like 'PT%' then v_detail else v_state end;
end;
$$;

begin;
set local search_path = public, extensions;
select plan(1);
select has_schema('tests', 'the factories are installed');
select * from finish();
rollback;

-- Creates the table orders of a project, an agent, and a row trigger with changes to a plain definition.
create or replace function tests.create_row_trigger(p_changes jsonb default '{}', p_name text default 'orders')
returns uuid
language plpgsql
as $$
begin
  perform tests.create_agent('worker-agent');
  create table if not exists public.orders (
    id int primary key, user_id uuid, status text, total numeric, paid_at timestamptz, is_gift boolean, data jsonb, raw json
  );
  grant all on public.orders to anon, authenticated, service_role;
  perform private.write_row_trigger(p_name,
    private.without_nulls('{"table": "orders", "events": ["insert", "update", "delete"], "agent": "worker-agent", "input": {"order": "id"}}'::jsonb || p_changes));
  return (select id from public.row_triggers where name = p_name);
end;
$$;
