begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as id;

select is(tests.claim((select id from made)), 1::bigint, 'the first claim has epoch 1');

select is((select status from public.tasks), 'running', 'the task runs');
select ok((select lease_expires_at > clock_timestamp() + interval '25 seconds' from public.tasks), 'it has a lease');
select ok(
  (select abs(extract(epoch from queue.vt - task.lease_expires_at)) < 1
   from pgmq.q_agent_tasks as queue join public.tasks as task on task.message_id = queue.msg_id),
  'the message comes back when the lease ends'
);
select is(tests.claim((select id from made), 'w2'), null, 'no one else can claim it');
select tests.expire_lease((select id from made));
select is(tests.claim((select id from made), 'w2'), 2::bigint, 'after the lease the next worker has epoch 2');

select * from finish();
rollback;
