-- Limits on what is sent through Realtime: only to channels that may have receivers, and within the
-- project's message rate.

create function private.setting_number(p_key text, p_default numeric)
returns numeric
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce(
    (select value::numeric from private.settings where key = p_key),
    p_default
  );
end;
$$;
comment on function private.setting_number(text, numeric) is
  'Returns the whole number that a setting holds, or the default.';
revoke all on function private.setting_number(text, numeric) from public;

create function private.takes_rows_now(p_table regclass)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select from pg_catalog.pg_class as whole
    where whole.oid = p_table and whole.relkind <> 'p'
  )
  or exists (
    select from pg_catalog.pg_inherits as child
    join pg_catalog.pg_class as part on part.oid = child.inhrelid
    cross join lateral (select pg_catalog.pg_get_expr(part.relpartbound, part.oid) as text) as bound
    where child.inhparent = p_table
      and (
        bound.text = 'DEFAULT'
        or (
          -- MINVALUE and MAXVALUE do not match: they are open bounds.
          coalesce(substring(bound.text from $re$FROM \('([^']+)'\)$re$)::timestamp <= localtimestamp, true)
          and coalesce(substring(bound.text from $re$TO \('([^']+)'\)$re$)::timestamp > localtimestamp, true)
        )
      )
  );
end;
$$;
comment on function private.takes_rows_now(regclass) is
  'True when the table has no partitions, or has a partition for the current time. Compares with localtimestamp, the start of the transaction, because the partitions use timestamps without time zone.';
revoke all on function private.takes_rows_now(regclass) from public;

create function private.can_broadcast()
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  -- Try the usual name of today's partition first: this only reads a cache. The platform may change its
  -- names, so otherwise look at the bounds of the partitions.
  return to_regclass('realtime.messages_' || to_char(localtimestamp, 'YYYY_MM_DD')) is not null
    or private.takes_rows_now('realtime.messages');
end;
$$;
comment on function private.can_broadcast() is
  'True when realtime.messages accepts a row now. Realtime creates its partitions while clients of the project are connected and drops them after three days, so without a partition there are no listeners.';
revoke all on function private.can_broadcast() from public;

-- A sequence counts outside transactions, so that no commit waits for another. It is unlogged: after a crash
-- the count starts again.
create unlogged sequence private.realtime_messages;
comment on sequence private.realtime_messages is
  'Messages sent through Realtime, counted on the scale of what the budget has allowed since 1970: messages per second times seconds.';

create function private.has_message_budget()
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_per_second constant numeric := private.setting_number('realtime_messages_per_second', 80);
  -- A burst of a quarter of a second: no second then gets more than five quarters of the budget.
  v_burst constant bigint := greatest(1, floor(v_per_second / 4));
  v_allowed constant bigint := floor(v_per_second * extract(epoch from clock_timestamp()));
  v_sent bigint := (select last_value from private.realtime_messages);
begin
  if v_per_second = 0 then
    return false;
  end if;
  -- Unused budget does not accumulate. Realtime looks back one minute at most, so a larger debt means
  -- that an operator lowered the budget, which changes the scale of the count.
  if v_sent < v_allowed - v_burst or v_sent > v_allowed + 60 * v_per_second then
    v_sent := setval('private.realtime_messages', v_allowed - v_burst);
  end if;
  -- Two concurrent callers may both pass. Both are counted, so later callers wait longer.
  return v_sent < v_allowed;
end;
$$;
comment on function private.has_message_budget() is
  'True when the project may send one more message now. The setting realtime_messages_per_second is the budget, 80 by default; 0 turns streamed text off. Events are sent without this check.';
revoke all on function private.has_message_budget() from public;

-- Realtime rolls back the transaction in which it checks a join. A sequence keeps its value.
create sequence private.task_channels_until;
comment on sequence private.task_channels_until is
  'Unix time in seconds until which a client may be on the channel of a task: the latest expiry of a token that joined one.';
create sequence private.user_channels_until;
comment on sequence private.user_channels_until is
  'Unix time in seconds until which a client may be on the channel of a user; set like task_channels_until.';

create function private.are_served(p_channels_until regclass)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  return coalesce(pg_catalog.pg_sequence_last_value(p_channels_until), 0) > extract(epoch from clock_timestamp());
end;
$$;
comment on function private.are_served(regclass) is
  'True while a client may be on a channel of this kind. The sequence is task_channels_until or user_channels_until.';
revoke all on function private.are_served(regclass) from public;

create function private.expect_channels(p_channels_until regclass)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_now constant numeric := extract(epoch from clock_timestamp());
  v_claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  -- Realtime closes a channel up to five minutes after its token expired; a new token joins again.
  v_until constant bigint := ceil(coalesce((v_claims ->> 'exp')::numeric, v_now + 3600) + 600);
begin
  if v_until <= coalesce(pg_catalog.pg_sequence_last_value(p_channels_until), 0)
    or current_setting('transaction_read_only') = 'on'
  then
    return;
  end if;
  -- Of two concurrent joins, the later expiry must win.
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:task_channels', 0));
  perform setval(p_channels_until, greatest(v_until, pg_catalog.pg_sequence_last_value(p_channels_until)));
end;
$$;
comment on function private.expect_channels(regclass) is
  'Records that a client joins a channel of this kind, until its token expires.';
revoke all on function private.expect_channels(regclass) from public;
