-- The names that the platform has created in public, which statements of the SQL tools never define anew.
insert into private.platform_objects (schema_name, name)
select 'public', created.name
from (
  select relname::text from pg_catalog.pg_class where relnamespace = 'public'::regnamespace
  union
  select typname::text from pg_catalog.pg_type where typnamespace = 'public'::regnamespace
) as created (name)
where created.name not in (select project.name from private.project_objects as project);
drop table private.project_objects;
