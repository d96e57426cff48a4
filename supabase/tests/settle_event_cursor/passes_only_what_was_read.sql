begin;
set local search_path = public, extensions;
select plan(3);

-- The base after a page that was read up to an id, for a cursor that waits to pass the id 10.
create function pg_temp.base_after(p_read_until bigint, p_snapshot pg_snapshot) returns bigint language sql as $$
  select (private.settle_event_cursor(
    jsonb_populate_record(null::private.event_cursor, jsonb_build_object(
      'base', 1, 'settling', 10, 'transaction', '50', 'last_ids', array[10])),
    p_read_until, p_snapshot)).base
$$;

select is(pg_temp.base_after(20, '60:70:'), 10::bigint, 'when every older transaction has ended, it passes what it waited for');
select is(pg_temp.base_after(5, '60:70:'), 5::bigint, 'events that appeared below and were not read yet stay ahead of it');
select is(pg_temp.base_after(20, '40:70:40'), 1::bigint, 'while an older transaction is open, it passes nothing');

select * from finish();
rollback;
