begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as id;

select is(tests.claim((select id from made)), 1::bigint, 'the first claim has epoch 1');

select is((select status from public.tasks), 'running', 'the task is running');
select ok((select lease_expires_at > clock_timestamp() + interval '25 seconds' from public.tasks), 'the task has a lease');
select is(
  (select array[(select count(*) from pgmq.q_agent_tasks), count(message_id)] from public.tasks), '{0,0}'::bigint[],
  'its message is removed: only the lease measures time'
);
select is(tests.claim((select id from made), 'w2'), null, 'no other worker can claim it');
select tests.expire_lease((select id from made));
select is(tests.claim((select id from made), 'w2'), 2::bigint, 'after the lease expires the next worker gets epoch 2');

select * from finish();
rollback;
