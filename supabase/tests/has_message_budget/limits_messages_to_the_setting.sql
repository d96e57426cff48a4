begin;
set local search_path = public, extensions;
select plan(8);

select tests.quiet_realtime();
insert into private.settings (key, value) values ('realtime_messages_per_second', '80')
on conflict (key) do update set value = excluded.value;

create function pg_temp.send(p_tries int) returns int language plpgsql as $$
declare
  v_sent int := 0;
begin
  for n in 1..p_tries loop
    if private.has_message_budget() then
      perform nextval('private.realtime_messages');
      v_sent := v_sent + 1;
    end if;
  end loop;
  return v_sent;
end;
$$;

create temp table first on commit drop as select clock_timestamp() as begun_at, pg_temp.send(100) as sent;
select cmp_ok(sent, '>=', 10, 'the budget of a quarter of a second is available immediately, two for each message') from first;
select cmp_ok(
  first.sent + pg_temp.send(100), '<=', 11 + floor(40 * extract(epoch from clock_timestamp() - begun_at))::int,
  'the remaining messages come from elapsed time'
) from first;
select pg_sleep(0.5);
select cmp_ok(pg_temp.send(100), '>=', 10, 'half a second later more is available');

select count(nextval('private.realtime_messages')) from generate_series(1, 400);
select pg_sleep(0.3);
select ok(not private.has_message_budget(), 'messages beyond the budget count as a debt');

update private.settings set value = '20' where key = 'realtime_messages_per_second';
select ok(private.has_message_budget(), 'a smaller budget starts without the debt');
update private.settings set value = '8000' where key = 'realtime_messages_per_second';
select cmp_ok(pg_temp.send(1200), '>=', 1000, 'a larger budget starts without the debt');
delete from private.settings where key = 'realtime_messages_per_second';
select ok(private.has_message_budget(), 'the default applies without the setting');
insert into private.settings (key, value) values ('realtime_messages_per_second', '1');
update private.settings set value = '0' where key = 'realtime_messages_per_second';
select ok(not private.has_message_budget(), 'a budget of zero allows nothing');

select * from finish();
rollback;
