begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as id;

create temp table first on commit drop as
  select (extract(epoch from clock_timestamp()) * 1000000)::bigint as before, tests.claim((select id from made)) as epoch;
select ok((select epoch >= before from first), 'the epoch is later than that of a claim which a crash of the server undid');

select is((select status from public.tasks), 'running', 'the task is running');
select ok((select lease_expires_at > clock_timestamp() + interval '25 seconds' from public.tasks), 'the task has a lease');
select is_empty('select from pgmq.q_agent_tasks', 'its message is removed: only the lease measures time');
select is(tests.claim((select id from made), 'w2'), null, 'no other worker can claim it');
select tests.expire_lease((select id from made));
update public.tasks set epoch = epoch + 1000000000;
select is(
  tests.claim((select id from made), 'w2'), (select epoch + 1000000001 from first),
  'after the lease expires the next worker gets a later epoch, even if the clock was set back'
);

select * from finish();
rollback;
