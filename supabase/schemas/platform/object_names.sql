-- The names that the platform has created in public, which statements of the SQL tools never define anew.
insert into private.platform_objects (schema_name, name)
select 'public', created.name
from (
  select relname::text from pg_catalog.pg_class where relnamespace = 'public'::regnamespace
  union
  select typname::text from pg_catalog.pg_type where typnamespace = 'public'::regnamespace
) as created (name)
where created.name not in (select project.name from private.project_objects as project);

create function private.refuse_view_write()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  raise exception 'permission denied for view %', tg_table_name using errcode = '42501';
end;
$$;
comment on function private.refuse_view_write() is
  'Row trigger of views that nobody writes. PostgreSQL refuses to write a view without such a trigger before it checks the caller''s rights, and with an error for which PostgREST answers 500.';

do $$
declare
  v_view regclass;
begin
  for v_view in
    select relation.oid
    from pg_catalog.pg_class as relation
    where relation.relkind = 'v' and relation.relnamespace = 'public'::regnamespace
      and relation.relname not in (select project.name from private.project_objects as project)
      and pg_catalog.pg_relation_is_updatable(relation.oid, false) = 0
  loop
    execute format(
      'create trigger refuse_write instead of insert or update or delete on %s '
      'for each row execute function private.refuse_view_write()', v_view);
  end loop;
end;
$$;

drop table private.project_objects;
