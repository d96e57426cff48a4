begin;
set local search_path = public, extensions;
select plan(6);

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
  'no definer function is exposed'
);
select is_empty('select name from own_table where not relrowsecurity', 'every table has row level security');
select is_empty(
  $$select signature from own_function where obj_description(oid, 'pg_proc') is null
    union all select name from own_table where obj_description(oid, 'pg_class') is null$$,
  'every function and table has a comment'
);
select is_empty(
  $$select signature from own_function, aclexplode(coalesce(proacl, acldefault('f', proowner))) as acl
    where acl.grantee = 0 and acl.privilege_type = 'EXECUTE'$$,
  'PUBLIC may execute nothing'
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
