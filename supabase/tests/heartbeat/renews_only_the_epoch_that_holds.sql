begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_task() as id;
create temp table held on commit drop as select id, tests.claim(id) as epoch from made;
update public.tasks set lease_expires_at = clock_timestamp() + interval '5 seconds';

select state from private.heartbeat('w0',
  (select jsonb_build_array(jsonb_build_object('id', id, 'epoch', epoch - 1)) from held), 300);
select ok(
  (select lease_expires_at < clock_timestamp() + interval '10 seconds' from public.tasks), 'an older epoch renews nothing'
);
select state from private.heartbeat('w1',
  (select jsonb_build_array(jsonb_build_object('id', id, 'epoch', epoch)) from held), 300);
select ok(
  (select lease_expires_at > clock_timestamp() + interval '290 seconds' from public.tasks), 'the holder renews its lease'
);

select * from finish();
rollback;
