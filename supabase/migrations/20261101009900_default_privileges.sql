-- Restores the default privileges that the project had before the first migration. A later migration must
-- revoke the rights that it does not want to grant.
do $$
declare
  v_right record;
begin
  for v_right in
    select format(
      'alter default privileges %s grant %s on %s to %s',
      scope, privilege_type, objects, case grantee when 0 then 'public' else grantee::regrole::text end
    ) as statement
    from private.default_privileges
  loop
    execute v_right.statement;
  end loop;
end;
$$;
drop table private.default_privileges;

-- What these migrations have created in public, which statements of the SQL tools never define anew.
insert into private.platform_objects (schema_name, name)
select 'public', created.name
from (
  select relname::text from pg_catalog.pg_class where relnamespace = 'public'::regnamespace
  union
  select typname::text from pg_catalog.pg_type where typnamespace = 'public'::regnamespace
) as created (name)
where created.name not in (select project.name from private.project_objects as project);
drop table private.project_objects;
