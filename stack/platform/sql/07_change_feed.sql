-- postgres_changes without logical decoding.
--
-- A hosted project decodes the WAL of the publication `supabase_realtime`. The embedded server has no
-- WAL to decode. So each table of the publication gets a row trigger. While realtime.subscription
-- has a subscriber to the table, the trigger records each change in realtime.stack_changes and
-- sends its id by NOTIFY on `supaswarm_cdc`. The Realtime server reads the rows, applies RLS per
-- subscriber, and deletes them.

create publication supabase_realtime;
alter publication supabase_realtime owner to postgres;

create unlogged table realtime.stack_changes (
  id bigserial primary key,
  schema_name text not null,
  table_name text not null,
  operation text not null check (operation in ('INSERT', 'UPDATE', 'DELETE')),
  record jsonb,
  old_record jsonb,
  columns jsonb not null,
  commit_timestamp timestamptz not null default now()
);
comment on table realtime.stack_changes is
  'Committed changes of published tables that the Realtime server has not delivered yet.';
comment on column realtime.stack_changes.record is 'The published columns after the change.';
comment on column realtime.stack_changes.old_record is
  'The replica identity before the change: by default the primary key.';
comment on column realtime.stack_changes.columns is
  'The published columns as [{"name", "type"}], with the internal name of the type.';
alter table realtime.stack_changes enable row level security;

-- Names of the columns that identify a changed row to a subscriber.
create function realtime.replica_identity(relation oid) returns text[]
language sql
stable
set search_path = ''
as $$
  select array_agg(attribute.attname::text order by attribute.attnum)
  from pg_catalog.pg_class as class
  join pg_catalog.pg_attribute as attribute
    on attribute.attrelid = class.oid and attribute.attnum > 0 and not attribute.attisdropped
  left join pg_catalog.pg_index as index
    on index.indrelid = class.oid
    and case class.relreplident
      when 'd' then index.indisprimary
      when 'i' then index.indisreplident
      else false
    end
  where class.oid = replica_identity.relation
    and (class.relreplident = 'f' or attribute.attnum = any (index.indkey));
$$;

create function realtime.pick_columns(record jsonb, names text[]) returns jsonb
language sql
immutable
set search_path = ''
as $$
  select jsonb_object_agg(field.key, field.value)
  from jsonb_each(pick_columns.record) as field
  where field.key = any (pick_columns.names);
$$;

-- Row trigger of a published table. Its arguments are the publication's column list, or empty for
-- all columns.
create function realtime.record_change() returns trigger
language plpgsql
security definer -- users who may change the table may not write the change feed
set search_path = ''
as $$
declare
  published jsonb;
  published_names text[];
  change_id bigint;
begin
  if not exists (
    select from realtime.subscription as subscription where subscription.entity = tg_relid
  ) then
    return null; -- the table has no subscribers
  end if;
  select
    jsonb_agg(
      jsonb_build_object('name', attribute.attname, 'type', type.typname)
      order by attribute.attnum),
    array_agg(attribute.attname::text)
  into published, published_names
  from pg_catalog.pg_attribute as attribute
  join pg_catalog.pg_type as type on type.oid = attribute.atttypid
  where attribute.attrelid = tg_relid
    and attribute.attnum > 0
    and not attribute.attisdropped
    and (tg_nargs = 0 or attribute.attname = any (tg_argv));
  insert into realtime.stack_changes
    (schema_name, table_name, operation, record, old_record, columns)
  values (
    tg_table_schema,
    tg_table_name,
    tg_op,
    case when tg_op <> 'DELETE' then realtime.pick_columns(to_jsonb(new), published_names) end,
    case
      when tg_op <> 'INSERT'
        then realtime.pick_columns(to_jsonb(old), realtime.replica_identity(tg_relid))
    end,
    published)
  returning id into change_id;
  perform pg_catalog.pg_notify('supaswarm_cdc', change_id::text);
  return null;
end;
$$;

-- The tables of the publication, each with the arguments of its trigger, as SQL and in the format
-- of pg_trigger.
create function realtime.published_tables()
returns table (relation regclass, arguments text, stored_arguments text)
language sql
stable
set search_path = ''
as $$
  select
    class.oid::regclass,
    coalesce(string_agg(quote_literal(attribute.attname), ', ' order by attribute.attnum), ''),
    coalesce(string_agg(attribute.attname || '\000', '' order by attribute.attnum), '')
  from pg_catalog.pg_publication_tables as published
  join pg_catalog.pg_publication as publication on publication.pubname = published.pubname
  join pg_catalog.pg_class as class on class.relname = published.tablename
  join pg_catalog.pg_namespace as namespace
    on namespace.oid = class.relnamespace and namespace.nspname = published.schemaname
  left join pg_catalog.pg_publication_rel as listed
    on listed.prpubid = publication.oid and listed.prrelid = class.oid
  left join pg_catalog.pg_attribute as attribute
    on attribute.attrelid = class.oid and attribute.attnum = any (listed.prattrs)
  where published.pubname = 'supabase_realtime'
  group by class.oid;
$$;

create function realtime.follow_publication() returns event_trigger
language plpgsql
security definer -- creates triggers on tables of other owners
set search_path = ''
as $$
declare
  entry record;
begin
  for entry in
    select trigger.tgrelid::regclass as relation
    from pg_catalog.pg_trigger as trigger
    left join realtime.published_tables() as published
      on published.relation = trigger.tgrelid
      and published.stored_arguments = encode(trigger.tgargs, 'escape')
    where trigger.tgname = 'supaswarm_change_feed' and published.relation is null
  loop
    execute format('drop trigger supaswarm_change_feed on %s', entry.relation);
  end loop;
  for entry in
    select published.*
    from realtime.published_tables() as published
    where not exists (
      select from pg_catalog.pg_trigger as trigger
      where trigger.tgrelid = published.relation and trigger.tgname = 'supaswarm_change_feed'
    )
  loop
    execute format(
      'create trigger supaswarm_change_feed after insert or update or delete on %s
         for each row execute function realtime.record_change(%s)',
      entry.relation, entry.arguments);
  end loop;
end;
$$;

revoke all on function realtime.record_change(), realtime.follow_publication() from public;

create event trigger supaswarm_follow_publication on ddl_command_end
when tag in ('CREATE PUBLICATION', 'ALTER PUBLICATION', 'DROP PUBLICATION', 'CREATE TABLE')
execute function realtime.follow_publication();
