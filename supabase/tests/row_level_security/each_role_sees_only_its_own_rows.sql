begin;
set local search_path = public, extensions;
select plan(8);

-- A job of the owner with a row in each table that belongs to a user.
select tests.create_user('stranger'), tests.create_provider('acme', true);
create temp table job on commit drop as select tests.create_family(1) as id;
grant select on job to authenticated, anon, service_role;
select private.record_steps((select id from job), 1, 30, '[{"seq": 9, "kind": "model", "state": "done", "output": {},
  "usage": {"model": "m", "key_source": "none", "input_tokens": 1, "output_tokens": 1}}]');
select private.request_review((select id from job), 1, 5, 'May I?');
select tests.act_as_user('owner');
select public.set_provider_key('acme', 'own-key');
select tests.act_as_nobody();

create temp table visible (table_name text, row_count bigint) on commit drop;
grant all on visible to authenticated, anon, service_role;
create function pg_temp.look(p_tables text[]) returns void language plpgsql as $$
declare v_table text;
begin
  delete from visible;
  foreach v_table in array p_tables loop
    execute format('insert into visible select %L, (select count(*) from public.%I)', v_table, v_table);
  end loop;
end $$;

select tests.act_as_user('owner');
select pg_temp.look(array['tasks', 'task_steps', 'task_events', 'human_reviews', 'usage_events', 'user_provider_keys']);
select is_empty('select table_name from visible where row_count = 0', 'the owner sees their rows');

select tests.act_as_user('stranger');
select pg_temp.look(array['tasks', 'task_steps', 'task_events', 'human_reviews', 'usage_events', 'user_provider_keys', 'user_tool_credentials']);
select is_empty('select table_name from visible where row_count > 0', 'a stranger sees none of them');
select pg_temp.look(array['agents', 'llm_providers', 'skills', 'agent_skills', 'agent_tools', 'agent_handoffs', 'model_prices']);
select isnt_empty('select table_name from visible where table_name = ''agents'' and row_count > 0', 'a stranger sees the registry');

select tests.act_as_nobody();
select is_empty(
  $$select relation.relname, acl.privilege_type
    from pg_class as relation, aclexplode(relation.relacl) as acl
    where relation.relnamespace in ('public'::regnamespace, 'private'::regnamespace)
      and acl.grantee = 'anon'::regrole$$,
  'anon has no privilege on any table'
);
select is_empty(
  $$select procedure.oid::regprocedure
    from pg_proc as procedure, aclexplode(procedure.proacl) as acl
    where procedure.pronamespace in ('public'::regnamespace, 'private'::regnamespace)
      and acl.grantee = 'anon'::regrole$$,
  'anon has no privilege on any function'
);
select is_empty(
  $$select relation.relname, acl.privilege_type
    from pg_class as relation, aclexplode(relation.relacl) as acl
    where relation.relnamespace in ('public'::regnamespace, 'private'::regnamespace)
      and acl.grantee = 'authenticated'::regrole and acl.privilege_type <> 'SELECT'
      and not (relation.relname in ('schedules', 'webhooks') and acl.privilege_type = 'DELETE')$$,
  'signed-in users can write no table'
);
select is_empty(
  $$select attribute.attrelid::regclass, attribute.attname, acl.privilege_type
    from pg_attribute as attribute, aclexplode(attribute.attacl) as acl
    where acl.grantee = 'authenticated'::regrole and acl.privilege_type <> 'SELECT'
      and not (attribute.attrelid = 'public.schedules'::regclass and attribute.attname in (
        'created_by', 'name', 'agent', 'input', 'cron', 'time_zone', 'overlap', 'is_active', 'priority', 'budget', 'metadata'))
      and not (attribute.attrelid = 'public.webhooks'::regclass and attribute.attname in (
        'created_by', 'name', 'url', 'events', 'includes_subtasks', 'is_active'))$$,
  'except the columns of their own rows that they may set'
);
select is_empty(
  $$select attribute.attrelid::regclass, attribute.attname
    from pg_attribute as attribute
    where attribute.attname in ('vault_secret_name', 'credential_secret_name', 'api_key_secret_name')
      and has_column_privilege('authenticated', attribute.attrelid, attribute.attnum, 'SELECT')$$,
  'signed-in users cannot read the name of a secret'
);

select * from finish();
rollback;
