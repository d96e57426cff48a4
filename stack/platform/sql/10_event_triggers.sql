-- Event triggers for schema changes. This must be the platform's last file, because the triggers
-- also protect the platform's schemas.

-- Tells the REST server to reload the schema.
create function extensions.pgrst_ddl_watch() returns event_trigger
language plpgsql
set search_path = ''
as $$
begin
  if exists (
    select
    from pg_catalog.pg_event_trigger_ddl_commands() as command
    where command.schema_name is distinct from 'pg_temp'
      and command.command_tag not in ('GRANT', 'REVOKE')
  ) then
    perform pg_catalog.pg_notify('pgrst', 'reload schema');
  end if;
end;
$$;

create function extensions.pgrst_drop_watch() returns event_trigger
language plpgsql
set search_path = ''
as $$
begin
  if exists (
    select from pg_catalog.pg_event_trigger_dropped_objects() as object where not object.is_temporary
  ) then
    perform pg_catalog.pg_notify('pgrst', 'reload schema');
  end if;
end;
$$;

-- A migration may only create policies and triggers on the platform's tables. On a hosted project,
-- `postgres` does not own them. Here it must, so everything else is refused with the error of a
-- hosted project. The platform itself runs as supabase_admin.
create function extensions.protect_platform_schemas() returns event_trigger
language plpgsql
set search_path = ''
as $$
declare
  refused text;
begin
  if current_user = 'supabase_admin' then
    return;
  end if;
  if tg_event = 'sql_drop' then
    select object.object_type || ' ' || object.object_identity into refused
    from pg_catalog.pg_event_trigger_dropped_objects() as object
    where object.original
      and object.schema_name in ('auth', 'storage', 'realtime')
      and object.object_type not in ('policy', 'trigger')
    limit 1;
  else
    select command.object_type || ' ' || command.object_identity into refused
    from pg_catalog.pg_event_trigger_ddl_commands() as command
    where command.schema_name in ('auth', 'storage', 'realtime')
      and not command.in_extension
      and command.command_tag not in (
        'CREATE POLICY', 'ALTER POLICY', 'CREATE TRIGGER', 'ALTER TRIGGER', 'GRANT', 'REVOKE')
    limit 1;
  end if;
  if refused is not null then
    raise exception 'must be owner of %', refused
      using errcode = 'insufficient_privilege',
        hint = 'The schemas auth, storage and realtime belong to the platform: '
          'a migration may only create policies and triggers there.';
  end if;
end;
$$;

-- On a hosted project, a script runs after `create extension pgmq` and leaves the search path empty
-- until the transaction ends, so a migration must qualify the names that follow. This function sets
-- no search_path, because that would restore the caller's at its end.
create function extensions.clear_path_after_pgmq() returns event_trigger
language plpgsql
as $$
begin
  if exists (
    select
    from pg_catalog.pg_event_trigger_ddl_commands() as command
    where command.object_type = 'extension' and command.object_identity = 'pgmq'
  ) then
    perform pg_catalog.set_config('search_path', '""', true);
  end if;
end;
$$;

create event trigger supaswarm_clear_path_after_pgmq on ddl_command_end
  when tag in ('CREATE EXTENSION')
  execute function extensions.clear_path_after_pgmq();
create event trigger supaswarm_protect_ddl on ddl_command_end
  execute function extensions.protect_platform_schemas();
create event trigger supaswarm_protect_drop on sql_drop
  execute function extensions.protect_platform_schemas();
create event trigger pgrst_ddl_watch on ddl_command_end
  execute function extensions.pgrst_ddl_watch();
create event trigger pgrst_drop_watch on sql_drop
  execute function extensions.pgrst_drop_watch();
