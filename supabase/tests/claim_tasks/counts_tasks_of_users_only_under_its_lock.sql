begin;
set local search_path = public, extensions;
select plan(4);

-- A claim that finds only tasks of the service takes no lock, so it must not count and pick a user's.
create function pg_temp.has_lock() returns boolean language sql as $$
  select exists (select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid() and objsubid = 1
    and ((classid::bigint << 32) | objid::bigint) = hashtextextended('supaswarm:concurrency_limits', 0))
$$;
select tests.create_agent('worker-agent');
select private.create_task('worker-agent', '{}') from generate_series(1, 2);
create temp table claimed on commit drop as select * from private.claim_tasks('w1', 1, 30);
select ok(not pg_temp.has_lock(), 'a claim of the service''s tasks takes no lock');

select tests.create_user('ada');
select tests.create_task(p_owner => 'ada');
select is(
  (select count(*) from private.next_tasks(5, true, p_of_users => false, p_has_key_limits => false))::int, 1,
  'without the lock no user''s task is picked'
);
select is((select count(*) from private.claim_tasks('w2', 5, 30))::int, 2, 'with the lock all are claimed');
select ok(pg_temp.has_lock(), 'a claim while a user''s task waits takes the lock');

select * from finish();
rollback;
