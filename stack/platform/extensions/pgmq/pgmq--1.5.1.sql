-- A message queue on ordinary tables, with the interface and semantics of pgmq 1.5.1.
--
-- A queue is a pair of tables, q_<name> and a_<name> (its archive), which belong to the extension.
-- Functions run with the caller's rights. A trusted script runs as the bootstrap superuser, so it
-- gives everything to the role that creates the extension, as on a hosted project.

create table pgmq.meta (
  queue_name varchar unique not null,
  is_partitioned boolean not null,
  is_unlogged boolean not null,
  created_at timestamptz not null default now()
);
comment on table pgmq.meta is 'All queues.';

create type pgmq.message_record as (
  msg_id bigint,
  read_ct integer,
  enqueued_at timestamptz,
  vt timestamptz,
  message jsonb,
  headers jsonb
);

create type pgmq.queue_record as (
  queue_name varchar,
  is_partitioned boolean,
  is_unlogged boolean,
  created_at timestamptz
);

create type pgmq.metrics_result as (
  queue_name text,
  queue_length bigint,
  newest_msg_age_sec integer,
  oldest_msg_age_sec integer,
  total_messages bigint,
  scrape_time timestamptz,
  queue_visible_length bigint
);

-- Names ----------------------------------------------------------------------------------------

create function pgmq.format_table_name(queue_name text, prefix text) returns text
language plpgsql
as $$
begin
  if format_table_name.queue_name ~ '\$|;|--|''' then
    raise exception 'queue name contains invalid characters: $, ;, --, or \''';
  end if;
  return lower(format_table_name.prefix || '_' || format_table_name.queue_name);
end;
$$;

create function pgmq.validate_queue_name(queue_name text) returns void
language plpgsql
as $$
begin
  -- The longest identifier derived from a name is its index, with a limit of 63 bytes.
  if length(validate_queue_name.queue_name) >= 48 then
    raise exception 'queue name is too long, maximum length is 48 characters';
  end if;
end;
$$;

create function pgmq._extension_exists(extension_name text) returns boolean
language sql
stable
as $$
  select exists (
    select from pg_catalog.pg_extension where extname = _extension_exists.extension_name
  );
$$;

create function pgmq._belongs_to_pgmq(table_name text) returns boolean
language sql
stable
as $$
  select exists (
    select
    from pg_catalog.pg_depend as dependency
    join pg_catalog.pg_extension as extension on extension.oid = dependency.refobjid
    join pg_catalog.pg_class as class on class.oid = dependency.objid
    where dependency.classid = 'pg_catalog.pg_class'::regclass
      and dependency.refclassid = 'pg_catalog.pg_extension'::regclass
      and dependency.deptype = 'e'
      and extension.extname = 'pgmq'
      and class.relnamespace = 'pgmq'::regnamespace
      and class.relname = _belongs_to_pgmq.table_name
  );
$$;

create function pgmq._ensure_pg_partman_installed() returns void
language plpgsql
as $$
begin
  if not pgmq._extension_exists('pg_partman') then
    raise exception 'pg_partman is required for partitioned queues';
  end if;
  raise exception 'partitioned queues are not supported by this server'
    using errcode = 'feature_not_supported';
end;
$$;

-- Queues ---------------------------------------------------------------------------------------

create function pgmq._create_queue(queue_name text, persistence text) returns void
language plpgsql
as $$
declare
  queue_table text := pgmq.format_table_name(_create_queue.queue_name, 'q');
  archive_table text := pgmq.format_table_name(_create_queue.queue_name, 'a');
begin
  perform pgmq.validate_queue_name(_create_queue.queue_name);
  execute format(
    'create %s table if not exists pgmq.%I (
       msg_id bigint primary key generated always as identity,
       read_ct integer not null default 0,
       enqueued_at timestamptz not null default now(),
       vt timestamptz not null,
       message jsonb,
       headers jsonb
     )', _create_queue.persistence, queue_table);
  execute format(
    'create table if not exists pgmq.%I (
       msg_id bigint primary key,
       read_ct integer not null default 0,
       enqueued_at timestamptz not null default now(),
       archived_at timestamptz not null default now(),
       vt timestamptz not null,
       message jsonb,
       headers jsonb
     )', archive_table);
  if not pgmq._belongs_to_pgmq(queue_table) then
    execute format('alter extension pgmq add table pgmq.%I', queue_table);
    execute format('alter extension pgmq add sequence pgmq.%I', queue_table || '_msg_id_seq');
  end if;
  if not pgmq._belongs_to_pgmq(archive_table) then
    execute format('alter extension pgmq add table pgmq.%I', archive_table);
  end if;
  execute format(
    'create index if not exists %I on pgmq.%I (vt)', queue_table || '_vt_idx', queue_table);
  execute format(
    'create index if not exists %I on pgmq.%I (archived_at)',
    'archived_at_idx_' || _create_queue.queue_name, archive_table);
  insert into pgmq.meta (queue_name, is_partitioned, is_unlogged)
  values (_create_queue.queue_name, false, _create_queue.persistence = 'unlogged')
  on conflict do nothing;
end;
$$;

create function pgmq.create_non_partitioned(queue_name text) returns void
language sql
as $$
  select pgmq._create_queue(create_non_partitioned.queue_name, '');
$$;

create function pgmq.create_unlogged(queue_name text) returns void
language sql
as $$
  select pgmq._create_queue(create_unlogged.queue_name, 'unlogged');
$$;

create function pgmq."create"(queue_name text) returns void
language sql
as $$
  select pgmq.create_non_partitioned("create".queue_name);
$$;

create function pgmq.create_partitioned(
  queue_name text,
  partition_interval text default '10000',
  retention_interval text default '100000'
) returns void
language plpgsql
as $$
begin
  perform pgmq.format_table_name(create_partitioned.queue_name, 'q');
  perform pgmq.validate_queue_name(create_partitioned.queue_name);
  perform pgmq._ensure_pg_partman_installed();
end;
$$;

create function pgmq.convert_archive_partitioned(
  table_name text,
  partition_interval text default '10000',
  retention_interval text default '100000',
  leading_partition integer default 10
) returns void
language plpgsql
as $$
declare
  archive_table text := pgmq.format_table_name(convert_archive_partitioned.table_name, 'a');
begin
  if to_regclass(format('pgmq.%I', archive_table)) is null then
    raise notice 'Table % does not exist', archive_table;
    return;
  end if;
  -- Without pg_partman the real function fails on the name of that extension's schema.
  perform format('%I', (
    select extnamespace::regnamespace::text from pg_catalog.pg_extension where extname = 'pg_partman'));
  perform pgmq._ensure_pg_partman_installed();
end;
$$;

create function pgmq.detach_archive(queue_name text) returns void
language plpgsql
as $$
begin
  execute format(
    'alter extension pgmq drop table pgmq.%I',
    pgmq.format_table_name(detach_archive.queue_name, 'a'));
end;
$$;

create function pgmq._drop_queue_table(table_name text) returns void
language plpgsql
as $$
begin
  if pgmq._belongs_to_pgmq(_drop_queue_table.table_name) then
    execute format('alter extension pgmq drop table pgmq.%I', _drop_queue_table.table_name);
  end if;
  if pgmq._belongs_to_pgmq(_drop_queue_table.table_name || '_msg_id_seq') then
    execute format(
      'alter extension pgmq drop sequence pgmq.%I', _drop_queue_table.table_name || '_msg_id_seq');
  end if;
  execute format('drop table if exists pgmq.%I', _drop_queue_table.table_name);
end;
$$;

create function pgmq.drop_queue(queue_name text) returns boolean
language plpgsql
as $$
begin
  perform pgmq._drop_queue_table(pgmq.format_table_name(drop_queue.queue_name, 'q'));
  perform pgmq._drop_queue_table(pgmq.format_table_name(drop_queue.queue_name, 'a'));
  delete from pgmq.meta where meta.queue_name = drop_queue.queue_name;
  return true;
end;
$$;

create function pgmq.drop_queue(queue_name text, partitioned boolean) returns boolean
language plpgsql
as $$
begin
  raise warning 'drop_queue(queue_name, partitioned) is deprecated and will be removed in PGMQ v2.0. Use drop_queue(queue_name) instead';
  return pgmq.drop_queue(drop_queue.queue_name);
end;
$$;

create function pgmq.purge_queue(queue_name text) returns bigint
language plpgsql
as $$
declare
  queue_table text := pgmq.format_table_name(purge_queue.queue_name, 'q');
  message_count bigint;
begin
  execute format('select count(*) from pgmq.%I', queue_table) into message_count;
  execute format('truncate table pgmq.%I', queue_table);
  return message_count;
end;
$$;

create function pgmq.list_queues() returns setof pgmq.queue_record
language sql
as $$
  select queue_name, is_partitioned, is_unlogged, created_at from pgmq.meta;
$$;

create function pgmq.metrics(queue_name text) returns pgmq.metrics_result
language plpgsql
as $$
declare
  queue_table text := pgmq.format_table_name(metrics.queue_name, 'q');
  result pgmq.metrics_result;
begin
  execute format(
    'select $1,
            count(*),
            extract(epoch from now() - max(enqueued_at))::integer,
            extract(epoch from now() - min(enqueued_at))::integer,
            (select case when is_called then last_value else 0 end from pgmq.%I),
            now(),
            count(*) filter (where vt <= now())
       from pgmq.%I', queue_table || '_msg_id_seq', queue_table)
    into result using metrics.queue_name;
  return result;
end;
$$;

create function pgmq.metrics_all() returns setof pgmq.metrics_result
language sql
as $$
  select (pgmq.metrics(meta.queue_name)).* from pgmq.meta;
$$;

-- Sending --------------------------------------------------------------------------------------

create function pgmq.send(queue_name text, msg jsonb, headers jsonb, delay timestamptz)
returns setof bigint
language plpgsql
as $$
begin
  return query execute format(
    'insert into pgmq.%I (vt, message, headers) values ($1, $2, $3) returning msg_id',
    pgmq.format_table_name(send.queue_name, 'q'))
    using send.delay, send.msg, send.headers;
end;
$$;

create function pgmq.send(queue_name text, msg jsonb) returns setof bigint
language sql
as $$
  select * from pgmq.send(send.queue_name, send.msg, null::jsonb, clock_timestamp());
$$;

create function pgmq.send(queue_name text, msg jsonb, headers jsonb) returns setof bigint
language sql
as $$
  select * from pgmq.send(send.queue_name, send.msg, send.headers, clock_timestamp());
$$;

create function pgmq.send(queue_name text, msg jsonb, delay integer) returns setof bigint
language sql
as $$
  select * from pgmq.send(
    send.queue_name, send.msg, null::jsonb,
    clock_timestamp() + make_interval(secs => send.delay));
$$;

create function pgmq.send(queue_name text, msg jsonb, delay timestamptz) returns setof bigint
language sql
as $$
  select * from pgmq.send(send.queue_name, send.msg, null::jsonb, send.delay);
$$;

create function pgmq.send(queue_name text, msg jsonb, headers jsonb, delay integer)
returns setof bigint
language sql
as $$
  select * from pgmq.send(
    send.queue_name, send.msg, send.headers,
    clock_timestamp() + make_interval(secs => send.delay));
$$;

-- Messages and headers are paired by position; a missing header is null.
create function pgmq.send_batch(
  queue_name text, msgs jsonb[], headers jsonb[], delay timestamptz
) returns setof bigint
language plpgsql
as $$
begin
  return query execute format(
    'insert into pgmq.%I (vt, message, headers)
     select $1, pair.message, pair.headers
       from unnest($2, $3) with ordinality as pair(message, headers, position)
      order by pair.position
     returning msg_id',
    pgmq.format_table_name(send_batch.queue_name, 'q'))
    using send_batch.delay, send_batch.msgs, coalesce(send_batch.headers, '{}'::jsonb[]);
end;
$$;

create function pgmq.send_batch(queue_name text, msgs jsonb[]) returns setof bigint
language sql
as $$
  select * from pgmq.send_batch(
    send_batch.queue_name, send_batch.msgs, null::jsonb[], clock_timestamp());
$$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], headers jsonb[])
returns setof bigint
language sql
as $$
  select * from pgmq.send_batch(
    send_batch.queue_name, send_batch.msgs, send_batch.headers, clock_timestamp());
$$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], delay integer)
returns setof bigint
language sql
as $$
  select * from pgmq.send_batch(
    send_batch.queue_name, send_batch.msgs, null::jsonb[],
    clock_timestamp() + make_interval(secs => send_batch.delay));
$$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], delay timestamptz)
returns setof bigint
language sql
as $$
  select * from pgmq.send_batch(
    send_batch.queue_name, send_batch.msgs, null::jsonb[], send_batch.delay);
$$;

create function pgmq.send_batch(
  queue_name text, msgs jsonb[], headers jsonb[], delay integer
) returns setof bigint
language sql
as $$
  select * from pgmq.send_batch(
    send_batch.queue_name, send_batch.msgs, send_batch.headers,
    clock_timestamp() + make_interval(secs => send_batch.delay));
$$;

-- Receiving ------------------------------------------------------------------------------------

create function pgmq.read(queue_name text, vt integer, qty integer, conditional jsonb default '{}')
returns setof pgmq.message_record
language plpgsql
as $$
declare
  queue_table text := pgmq.format_table_name(read.queue_name, 'q');
begin
  return query execute format(
    'with visible as (
       select msg_id
         from pgmq.%1$I
        where vt <= clock_timestamp()
          and (coalesce($3, ''{}'') = ''{}''::jsonb or message @> $3)
        order by msg_id
        limit $2
          for update skip locked
     )
     update pgmq.%1$I as queue
        set vt = clock_timestamp() + make_interval(secs => $1),
            read_ct = queue.read_ct + 1
       from visible
      where queue.msg_id = visible.msg_id
     returning queue.msg_id, queue.read_ct, queue.enqueued_at, queue.vt, queue.message, queue.headers',
    queue_table)
    using read.vt, read.qty, read.conditional;
end;
$$;

create function pgmq.read_with_poll(
  queue_name text,
  vt integer,
  qty integer,
  max_poll_seconds integer default 5,
  poll_interval_ms integer default 100,
  conditional jsonb default '{}'
) returns setof pgmq.message_record
language plpgsql
as $$
declare
  give_up_at timestamptz := clock_timestamp() + make_interval(secs => max_poll_seconds);
begin
  while clock_timestamp() < give_up_at loop
    return query
      select * from pgmq.read(
        read_with_poll.queue_name, read_with_poll.vt, read_with_poll.qty,
        read_with_poll.conditional);
    exit when found;
    perform pg_sleep(poll_interval_ms / 1000.0);
  end loop;
end;
$$;

create function pgmq.pop(queue_name text) returns setof pgmq.message_record
language plpgsql
as $$
declare
  queue_table text := pgmq.format_table_name(pop.queue_name, 'q');
begin
  return query execute format(
    'with visible as (
       select msg_id
         from pgmq.%1$I
        where vt <= clock_timestamp()
        order by msg_id
        limit 1
          for update skip locked
     )
     delete from pgmq.%1$I as queue
      using visible
      where queue.msg_id = visible.msg_id
     returning queue.msg_id, queue.read_ct, queue.enqueued_at, queue.vt, queue.message, queue.headers',
    queue_table);
end;
$$;

create function pgmq.set_vt(queue_name text, msg_id bigint, vt integer)
returns setof pgmq.message_record
language plpgsql
as $$
begin
  return query execute format(
    'update pgmq.%I as queue
        set vt = clock_timestamp() + make_interval(secs => $2)
      where queue.msg_id = $1
     returning queue.msg_id, queue.read_ct, queue.enqueued_at, queue.vt, queue.message, queue.headers',
    pgmq.format_table_name(set_vt.queue_name, 'q'))
    using set_vt.msg_id, set_vt.vt;
end;
$$;

-- Finishing ------------------------------------------------------------------------------------

create function pgmq.delete(queue_name text, msg_ids bigint[]) returns setof bigint
language plpgsql
as $$
begin
  return query execute format(
    'delete from pgmq.%I where msg_id = any($1) returning msg_id',
    pgmq.format_table_name(delete.queue_name, 'q'))
    using delete.msg_ids;
end;
$$;

create function pgmq.delete(queue_name text, msg_id bigint) returns boolean
language sql
as $$
  select exists (select from pgmq.delete(delete.queue_name, array[delete.msg_id]));
$$;

create function pgmq.archive(queue_name text, msg_ids bigint[]) returns setof bigint
language plpgsql
as $$
begin
  return query execute format(
    'with finished as (
       delete from pgmq.%I
        where msg_id = any($1)
       returning msg_id, vt, read_ct, enqueued_at, message, headers
     )
     insert into pgmq.%I (msg_id, vt, read_ct, enqueued_at, message, headers)
     select msg_id, vt, read_ct, enqueued_at, message, headers from finished
     returning msg_id',
    pgmq.format_table_name(archive.queue_name, 'q'),
    pgmq.format_table_name(archive.queue_name, 'a'))
    using archive.msg_ids;
end;
$$;

create function pgmq.archive(queue_name text, msg_id bigint) returns boolean
language sql
as $$
  select exists (select from pgmq.archive(archive.queue_name, array[archive.msg_id]));
$$;

-- Ownership and monitoring ---------------------------------------------------------------------

alter schema pgmq owner to @extowner@;
alter table pgmq.meta owner to @extowner@;
alter type pgmq.message_record owner to @extowner@;
alter type pgmq.queue_record owner to @extowner@;
alter type pgmq.metrics_result owner to @extowner@;
do $$
declare
  routine regprocedure;
begin
  for routine in select oid from pg_catalog.pg_proc where pronamespace = 'pgmq'::regnamespace
  loop
    execute format('alter function %s owner to %s', routine, '@extowner@');
  end loop;
end;
$$;

grant usage on schema pgmq to pg_monitor;
grant select on all tables in schema pgmq to pg_monitor;
grant select on all sequences in schema pgmq to pg_monitor;
alter default privileges for role @extowner@ in schema pgmq grant select on tables to pg_monitor;
alter default privileges for role @extowner@ in schema pgmq grant select on sequences to pg_monitor;
