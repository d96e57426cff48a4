begin;
set local search_path = public, extensions;
select plan(15);

create temp view own_schema as select oid, nspname from pg_namespace where nspname in ('public', 'private');
create temp view own_relation as
  select relation.oid, relation.oid::regclass::text as name, relation.relkind, relation.reloptions, relation.relowner
  from pg_class as relation
  join own_schema on own_schema.oid = relation.relnamespace
  where not exists (select from pg_depend where objid = relation.oid and deptype = 'e');
create temp table client (name text) on commit drop;
insert into client values ('anon'), ('authenticated');

select is_empty(
  $$select name from own_relation
    where relkind = 'v' and not coalesce(reloptions, '{}') && array['security_invoker=true', 'security_invoker=on']$$,
  'every view runs with the privileges of its reader'
);
select is_empty(
  'select name from own_relation where relkind = ''m''',
  'no materialized view exposes rows past the policies'
);
select is_empty(
  $$select client.name, own_relation.name
    from client, own_relation
    where relkind = 'S' and has_sequence_privilege(client.name, own_relation.oid, 'usage, select, update')$$,
  'clients can use no sequence'
);
select is_empty(
  $$select client.name, nspname
    from client, own_schema
    where has_schema_privilege(client.name, own_schema.oid, 'create')$$,
  'clients can create nothing in our schemas'
);
select is_empty(
  $$select nspname from own_schema where nspname = 'private' and has_schema_privilege('anon', oid, 'usage')$$,
  'anon has no access to private'
);
select is_empty(
  $$select attribute.attrelid::regclass, attribute.attname, client.name
    from client, pg_attribute as attribute
    join own_relation on own_relation.oid = attribute.attrelid
    where attribute.attname ~ '(secret_name|base_url|password|api_key)$'
      and relkind in ('r', 'v') and attribute.attname <> 'requires_api_key'
      and has_column_privilege(client.name, attribute.attrelid, attribute.attnum, 'select, insert, update')$$,
  'no client can read the name of a secret or the address it is sent to'
);
select is_empty(
  $$select schemaname, tablename, policyname from pg_policies
    where schemaname in ('public', 'private') and (roles && array['public', 'anon']::name[] or cmd = 'ALL')$$,
  'every policy names its role and one operation'
);

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
  $$select client.name, own_relation.name
    from client, own_relation
    where relkind in ('r', 'p', 'v')
      and has_table_privilege(client.name, own_relation.oid, 'truncate, references, trigger')$$,
  'clients hold none of the platform''s default privileges'
);
create function public.made_by_the_project() returns void language sql as '';
select ok(
  has_function_privilege('authenticated', 'public.made_by_the_project()', 'execute'),
  'a function that the project creates is executable, as is the default of Postgres'
);

create table public.made_without_grants (id int);
create function private.made_without_grants() returns void language sql as '';
select is_empty(
  $$select client.name from client
    where has_table_privilege(client.name, 'public.made_without_grants', 'select, insert, update, delete')$$,
  'a new table is inaccessible until it is granted'
);
select ok(
  not has_function_privilege('anon', 'private.made_without_grants()', 'execute')
    or not has_schema_privilege('anon', 'private', 'usage'),
  'anon cannot execute a new function in private'
);

select * from finish();
rollback;
