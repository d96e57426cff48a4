-- Messages sent from the database, and their authorization.
--
-- Each committed message sends a NOTIFY on `supaswarm_realtime` with {"id", "private", "topic"}, so
-- that the Realtime server reads only messages with subscribers. A topic that is too long for a
-- notification is null, and its message is read. The server checks policies with probe rows that are
-- rolled back, so they send no NOTIFY. One default partition holds all messages: the server deletes
-- those older than three days instead of dropping a partition per day.

create table realtime.messages (
  topic text not null,
  extension text not null,
  payload jsonb,
  event text,
  private boolean default false,
  updated_at timestamp not null default now(),
  inserted_at timestamp not null default now(),
  id uuid not null default gen_random_uuid(),
  binary_payload bytea,
  primary key (id, inserted_at),
  constraint messages_payload_exclusive check (payload is null or binary_payload is null)
) partition by range (inserted_at);

create table realtime.messages_default partition of realtime.messages default;
create index messages_inserted_at_topic_idx
  on realtime.messages (inserted_at desc, topic)
  where extension = 'broadcast' and private is true;

alter table realtime.messages enable row level security;
alter table realtime.messages_default enable row level security;

create function realtime.topic() returns text
language sql
stable
as $$
  select nullif(current_setting('realtime.topic', true), '');
$$;
comment on function realtime.topic() is
  'The channel that the client joins or writes to, without the prefix realtime:.';

-- When a message cannot be stored, warn and drop it instead of failing the caller's transaction.
create function realtime.send(payload jsonb, event text, topic text, private boolean default true)
returns void
language plpgsql
as $$
declare
  message_id uuid := gen_random_uuid();
begin
  begin
    perform set_config('realtime.topic', send.topic, true);
    insert into realtime.messages (id, payload, event, topic, private, extension)
    values (
      message_id,
      case
        when send.payload ? 'id' then send.payload
        else jsonb_set(send.payload, '{id}', to_jsonb(message_id))
      end,
      send.event, send.topic, send.private, 'broadcast');
  exception
    when others then
      raise warning 'WarnSendingBroadcastMessage: %', sqlerrm;
  end;
end;
$$;

create function realtime.send_binary(
  payload bytea, event text, topic text, private boolean default true
) returns void
language plpgsql
as $$
begin
  begin
    perform set_config('realtime.topic', send_binary.topic, true);
    insert into realtime.messages (binary_payload, event, topic, private, extension)
    values (
      send_binary.payload, send_binary.event, send_binary.topic, send_binary.private, 'broadcast');
  exception
    when others then
      raise warning 'WarnSendingBroadcastMessage: %', sqlerrm;
  end;
end;
$$;

create function realtime.broadcast_changes(
  topic_name text,
  event_name text,
  operation text,
  table_name text,
  table_schema text,
  new record,
  old record,
  level text default 'ROW'
) returns void
language plpgsql
as $$
begin
  if broadcast_changes.level <> 'ROW' then
    raise exception 'function can only be triggered for each row, not for each statement';
  end if;
  if broadcast_changes.operation not in ('INSERT', 'UPDATE', 'DELETE') then
    raise exception 'Unexpected operation type: %', broadcast_changes.operation;
  end if;
  perform realtime.send(
    jsonb_build_object(
      'schema', broadcast_changes.table_schema,
      'table', broadcast_changes.table_name,
      'operation', broadcast_changes.operation,
      'record', case when broadcast_changes.operation <> 'DELETE' then to_jsonb(new) end,
      'old_record', case when broadcast_changes.operation <> 'INSERT' then to_jsonb(old) end),
    broadcast_changes.event_name,
    broadcast_changes.topic_name);
end;
$$;

create function realtime.announce_message() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  perform pg_catalog.pg_notify(
    'supaswarm_realtime',
    json_build_object(
      'id', new.id,
      'private', new.private,
      'topic', case when octet_length(new.topic) <= 1000 then new.topic end)::text);
  return null;
end;
$$;

create trigger announce_message
after insert on realtime.messages
for each row execute function realtime.announce_message();

-- Subscriptions to tables, written by the Realtime server.
create type realtime.equality_op as enum ('eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in');
create type realtime.user_defined_filter as (
  column_name text,
  op realtime.equality_op,
  value text
);

create table realtime.subscription (
  id bigint generated always as identity primary key,
  subscription_id uuid not null,
  entity regclass not null,
  filters realtime.user_defined_filter[] not null default '{}',
  claims jsonb not null,
  claims_role text generated always as (claims ->> 'role') stored,
  created_at timestamp not null default timezone('utc', now())
);
create unique index subscription_subscription_id_entity_filters_key
  on realtime.subscription (subscription_id, entity, filters);
create index subscription_entity_idx on realtime.subscription (entity);
alter table realtime.subscription enable row level security;

alter table realtime.messages owner to supaswarm_platform_owner;
alter table realtime.messages_default owner to supaswarm_platform_owner;
alter table realtime.subscription owner to supaswarm_platform_owner;
grant all on realtime.messages, realtime.messages_default, realtime.subscription
  to supabase_realtime_admin;
grant select, insert, update on realtime.messages to anon, authenticated, service_role;
grant all on realtime.messages, realtime.subscription to postgres;
grant select on realtime.subscription to anon, authenticated, service_role;
