begin;
set local search_path = public, extensions;
select plan(8);

create temp table held on commit drop as
  select tests.create_task() as id;
select private.claim_tasks('w1', 1, 60);
create function tests.lease() returns timestamptz language sql as $$
  select lease_expires_at from public.tasks where id = (select id from held) $$;
create function tests.age_lease(p_seconds_left int) returns void language plpgsql as $$
begin
  update public.tasks set lease_expires_at = clock_timestamp() + make_interval(secs => p_seconds_left)
  where id = (select id from held);
end $$;

create temp table claimed on commit drop as select tests.lease() as at;
select private.hold_task((select id from held), tests.epoch_of((select id from held)), 60);
select is(tests.lease(), (select at from claimed), 'the lease of a recent claim is kept');

select tests.age_lease(51);
create temp table young on commit drop as select tests.lease() as at;
select private.hold_task((select id from held), tests.epoch_of((select id from held)), 60);
select is(tests.lease(), (select at from young), 'with 51 of 60 seconds left the lease is kept');

select tests.age_lease(49);
select private.hold_task((select id from held), tests.epoch_of((select id from held)), 60);
select ok(tests.lease() > clock_timestamp() + interval '59 seconds', 'with 49 of 60 seconds left the lease is renewed');
select ok(
  (private.hold_task((select id from held), tests.epoch_of((select id from held)), 60)).lease_expires_at = tests.lease(), 'the returned row equals the stored row'
);

select tests.age_lease(-1);
select private.hold_task((select id from held), tests.epoch_of((select id from held)), 60);
select ok(tests.lease() > clock_timestamp() + interval '59 seconds', 'an expired lease that nobody took is renewed');

create temp table renewed on commit drop as select tests.lease() as at;
select private.hold_task((select id from held), tests.epoch_of((select id from held)), 600);
select ok(tests.lease() > (select at from renewed), 'a longer lease replaces the current one');

select tests.age_lease(1);
create temp table ending on commit drop as select tests.lease() as at;
select private.hold_task((select id from held), tests.epoch_of((select id from held)), null);
select is(tests.lease(), (select at from ending), 'ending the lease does not renew it');
select is(
  tests.code_of(format('select private.hold_task(%L, 0, 60)', (select id from held))), 'LEASE_LOST',
  'an older epoch is refused, however recent the lease is'
);

select * from finish();
rollback;
