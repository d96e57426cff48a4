-- What may be sent through Realtime: only to channels with possible receivers, and within the project's
-- messages a second.

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
  'The whole number that a setting holds, or the default.';

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
          -- MINVALUE and MAXVALUE are no times, and bound nothing.
          coalesce(substring(bound.text from $re$FROM \('([^']+)'\)$re$)::timestamp <= localtimestamp, true)
          and coalesce(substring(bound.text from $re$TO \('([^']+)'\)$re$)::timestamp > localtimestamp, true)
        )
      )
  );
end;
$$;
comment on function private.takes_rows_now(regclass) is
  'True when the table has no partitions, or one for a row of this moment, by a timestamp without time zone that is the start of the transaction.';

create function private.can_broadcast()
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  -- The usual name of a day's partition, for the price of one look into a cache. Names are the
  -- platform's to change; bounds say what a row needs.
  return to_regclass('realtime.messages_' || to_char(localtimestamp, 'YYYY_MM_DD')) is not null
    or private.takes_rows_now('realtime.messages');
end;
$$;
comment on function private.can_broadcast() is
  'True when realtime.messages takes a row now. Realtime makes its partitions while clients of the project connect and drops them after three days, so without a partition there are no listeners.';

-- Counted outside transactions, so that no commit waits for another. Unlogged: after a crash the
-- budget begins anew.
create unlogged sequence private.realtime_messages;
comment on sequence private.realtime_messages is
  'Messages sent through Realtime, on the scale of what the budget has allowed since 1970: budget times seconds.';

create function private.has_message_budget()
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_per_second constant numeric := private.setting_number('realtime_messages_per_second', 80);
  -- A quarter of a second at once, so that no second has more than five quarters of the budget.
  v_burst constant bigint := greatest(1, floor(v_per_second / 4));
  v_allowed constant bigint := floor(v_per_second * extract(epoch from clock_timestamp()));
  v_sent bigint := (select last_value from private.realtime_messages);
begin
  if v_per_second = 0 then
    return false;
  end if;
  -- What was not sent in time is not saved up. A debt of over a minute, which is as far as Realtime
  -- looks back, means that the budget was made smaller, which moves its scale.
  if v_sent < v_allowed - v_burst or v_sent > v_allowed + 60 * v_per_second then
    v_sent := setval('private.realtime_messages', v_allowed - v_burst);
  end if;
  -- Two who ask at once may both be let through. They are counted, so others wait the longer.
  return v_sent < v_allowed;
end;
$$;
comment on function private.has_message_budget() is
  'True when the project may send one more message now. Its budget is the setting realtime_messages_per_second, 80 by default; 0 lets no streamed text through. Events do not ask.';

-- A join is undone once Realtime has its answer; what a sequence was set to stays.
create sequence private.task_channels_until;
comment on sequence private.task_channels_until is
  'Seconds since 1970 until which some client may be on a task''s own channel: the end of the latest token that joined one.';
create sequence private.user_channels_until;
comment on sequence private.user_channels_until is
  'Seconds since 1970 until which some client may be on a user''s own channel, as task_channels_until.';

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
  'True while some client may be on a channel of the kind of the sequence: task_channels_until or user_channels_until.';

create function private.expect_channels(p_channels_until regclass)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_now constant numeric := extract(epoch from clock_timestamp());
  v_claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  -- A channel is closed up to five minutes after its token has expired; a new token joins again.
  v_until constant bigint := ceil(coalesce((v_claims ->> 'exp')::numeric, v_now + 3600) + 600);
begin
  if v_until <= coalesce(pg_catalog.pg_sequence_last_value(p_channels_until), 0)
    or current_setting('transaction_read_only') = 'on'
  then
    return;
  end if;
  -- Of two who join at once the earlier end may not be what remains.
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:task_channels', 0));
  perform setval(p_channels_until, greatest(v_until, pg_catalog.pg_sequence_last_value(p_channels_until)));
end;
$$;
comment on function private.expect_channels(regclass) is
  'Notes that a client joins a channel of the kind of the sequence, for as long as its token lives.';
