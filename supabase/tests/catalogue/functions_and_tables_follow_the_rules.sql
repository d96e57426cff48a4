begin;
set local search_path = public, extensions;
select plan(7);

create temp view own_function as
  select procedure.*, procedure.oid::regprocedure::text as signature
  from pg_proc as procedure
  where pronamespace in ('public'::regnamespace, 'private'::regnamespace)
    and not exists (select from pg_depend where objid = procedure.oid and deptype = 'e');
create temp view own_table as
  select relation.*, relation.oid::regclass::text as name
  from pg_class as relation
  where relnamespace in ('public'::regnamespace, 'private'::regnamespace) and relkind in ('r', 'p');

select is_empty(
  $$select signature from own_function where not coalesce(proconfig, '{}') @> array['search_path=""']$$,
  'every function has an empty search_path'
);
select is_empty(
  $$select signature from own_function where prosecdef and pronamespace = 'public'::regnamespace$$,
  'no security definer function is exposed'
);
select is_empty('select name from own_table where not relrowsecurity', 'every table has row level security');
select is_empty(
  $$select signature from own_function where obj_description(oid, 'pg_proc') is null
    union all select name from own_table where obj_description(oid, 'pg_class') is null
    union all
    select own_table.name || ': ' || policy.polname
    from pg_policy as policy
    join own_table on own_table.oid = policy.polrelid
    where obj_description(policy.oid, 'pg_policy') is null$$,
  'every function, table and policy has a comment'
);
select is_empty(
  $$select signature from own_function, aclexplode(coalesce(proacl, acldefault('f', proowner))) as acl
    where acl.grantee = 0 and acl.privilege_type = 'EXECUTE'$$,
  'PUBLIC may execute nothing'
);
select is_empty(
  $$with held as (
      select distinct own.oid, own.signature, own.proname, own.prosrc, own.pronamespace
      from own_function as own, aclexplode(own.proacl) as acl
      join pg_roles as holder on holder.oid = acl.grantee
      where holder.rolname in ('anon', 'authenticated', 'service_role')
    ),
    caller as (
      select oid, prosrc from held
      union all
      -- Triggers run for every role that writes.
      select oid, prosrc from own_function where prorettype = 'trigger'::regtype and not prosecdef
    )
    select signature from held
    where pronamespace = 'private'::regnamespace
      -- Owned by authenticated, so that it has no other privileges.
      and signature <> 'private.call_as_caller(text,jsonb)'
      -- execute_sql calls it as the caller, in the transaction of a confirmed write.
      and signature not in (
        'private.missing_write_right(oid,text,jsonb)',
        'private.spend_sql_confirmation(text,text,text,text,text)',
        'private.record_sql_answer(uuid,jsonb)')
      -- execute_sql calls them as the caller; they show whether a plan, a sample or a write is refused.
      and signature not in (
        'private.reads_hidden_rows()',
        'private.hides_rows_by_policy(oid)',
        'private.missing_write_right(oid,text,jsonb)')
      -- generate_schema calls them as the caller; they show what the catalogs show everyone.
      and signature not in ('private.describe_schema(jsonb)', 'private.catalog_version(jsonb)')
      -- The tools of the server catalog call them as the caller.
      and signature not in (
        'private.add_message(uuid,text,text,text)',
        'private.create_conversation(text)',
        'private.delete_conversation(uuid)',
        'private.log_auth_event(text,jsonb)',
        'private.save_ruleset(uuid,text,jsonb,integer)')
      and not exists (
        select from caller
        where caller.oid <> held.oid and strpos(caller.prosrc, 'private.' || held.proname || '(') > 0
      )
      and not exists (select from pg_policies where strpos(qual, held.proname || '(') > 0)
      and not exists (select from pg_indexes where strpos(indexdef, held.proname || '(') > 0)
      and not exists (
        select from pg_views where schemaname = 'public' and strpos(definition, held.proname || '(') > 0
      )$$,
  'in private, API roles may execute only what a policy, trigger, index, view or public function calls as them'
);
select is_empty(
  $$select constraint_.conrelid::regclass::text, constraint_.conname
    from pg_constraint as constraint_
    where constraint_.contype = 'f'
      and constraint_.connamespace in ('public'::regnamespace, 'private'::regnamespace)
      and not exists (
        select from pg_index as index
        where index.indrelid = constraint_.conrelid
          and (index.indkey::int2[])[0] = constraint_.conkey[1]
      )$$,
  'every foreign key has an index'
);

select * from finish();
rollback;
