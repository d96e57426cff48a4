begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task() as id;
create temp table held on commit drop as select id, tests.claim(id) as epoch from made;
create function pg_temp.beat(p_epoch bigint) returns text language sql as $$
  select state from private.heartbeat('w1',
    jsonb_build_array(jsonb_build_object('id', (select id from made), 'epoch', p_epoch)), 300)
$$;

select is(pg_temp.beat((select epoch from held)), 'held', 'the current holder gets held');
select ok(
  (select lease_expires_at > clock_timestamp() + interval '290 seconds' from public.tasks), 'the lease lasts as long as requested'
);
select is(pg_temp.beat(0), 'lost', 'an older epoch gets lost');
select results_eq(
  $$select epoch, state from private.heartbeat('w1',
    (select jsonb_agg(jsonb_build_object('id', id, 'epoch', epoch - age)) from held, generate_series(0, 1) as age), 300)
    order by epoch$$,
  $$values ((select epoch - 1 from held), 'lost'), ((select epoch from held), 'held')$$,
  'each lease gets its own answer'
);
select public.cancel_task((select id from made));
select is(pg_temp.beat((select epoch from held)), 'cancelled', 'the holder is notified of the cancellation');

select * from finish();
rollback;
