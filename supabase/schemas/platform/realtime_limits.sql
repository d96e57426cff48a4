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

-- A sequence counts outside transactions, so that no commit waits for another. It is unlogged: after a crash
-- the count starts again.
create unlogged sequence private.realtime_messages increment by 2;
comment on sequence private.realtime_messages is
  'Messages that Realtime counts, on the scale of what the budget has allowed since 1970: messages per second times seconds. Two for each row of realtime.messages: Realtime counts the row, and the message to each receiver, of which a channel usually has one.';

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
  'True when the project may send one more message now. The setting realtime_messages_per_second is the budget, 80 by default, of messages as Realtime counts them; 0 turns streamed text off. Events are sent without this check.';

-- Realtime rolls back the transaction in which it checks a join, but a sequence keeps its value. There are 128
-- of them, and the hash of a channel's topic selects one. A channel that nobody has joined receives messages only
-- if another channel with the same hash was joined.
do $$
begin
  for v_place in 0..127 loop
    execute format('create sequence private.joined_channels_%s', v_place);
    execute format('comment on sequence private.joined_channels_%s is %L', v_place,
      'Unix time in seconds until which a client may be on a channel with this hash: the latest expiry of a token that joined one.');
  end loop;
end;
$$;

create sequence private.channels_joined_until;
comment on sequence private.channels_joined_until is
  'Unix time in seconds until which a client may be on any channel: the latest value of the sequences above.';

create function private.joined_channels(p_topic text)
returns regclass
language plpgsql
immutable
set search_path = ''
as $$
begin
  return ('private.joined_channels_' || (pg_catalog.hashtextextended(p_topic, 0) & 127))::regclass;
end;
$$;
comment on function private.joined_channels(text) is
  'The sequence that records until when a client may be on a channel.';

create function private.is_joined(p_topic text)
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  return coalesce(pg_catalog.pg_sequence_last_value(private.joined_channels(p_topic)), 0)
    > extract(epoch from clock_timestamp());
end;
$$;
comment on function private.is_joined(text) is
  'True while a client may be on the channel: one has joined it, or a channel with the same hash, and its token is valid.';

create function private.is_any_joined()
returns boolean
language plpgsql
set search_path = ''
as $$
begin
  return coalesce(pg_catalog.pg_sequence_last_value('private.channels_joined_until'), 0)
    > extract(epoch from clock_timestamp());
end;
$$;
comment on function private.is_any_joined() is
  'True while a client may be on any channel, so that it is worth asking is_joined() for each channel.';

create function private.expect_receiver(p_topic text, p_until timestamptz default null)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_joined constant regclass := private.joined_channels(p_topic);
  v_all constant regclass := 'private.channels_joined_until';
  v_claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  v_until constant bigint := ceil(coalesce(
    extract(epoch from p_until),
    -- Realtime closes a channel up to five minutes after its token expired; a new token joins again.
    coalesce((v_claims ->> 'exp')::numeric, extract(epoch from clock_timestamp()) + 3600) + 600
  ));
begin
  if v_until <= coalesce(pg_catalog.pg_sequence_last_value(v_joined), 0)
    or current_setting('transaction_read_only') = 'on'
  then
    return;
  end if;
  -- Of two concurrent joins, the later expiry must win.
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:joined_channels', 0));
  perform setval(v_joined, greatest(v_until, pg_catalog.pg_sequence_last_value(v_joined))),
    setval(v_all, greatest(v_until, pg_catalog.pg_sequence_last_value(v_all)));
end;
$$;
comment on function private.expect_receiver(text, timestamptz) is
  'Records that a client is on the channel until p_until, by default until the caller''s token expires. From now on messages are sent to it.';
