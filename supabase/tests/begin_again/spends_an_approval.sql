begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_task() as id;
create function pg_temp.is_spent() returns boolean language sql as $$
  select (context #>> '{reviews,0,is_spent}')::boolean from private.task_contexts(array(select task from public.tasks as task where task.id = (select id from made)))
$$;
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "tool", "name": "pay", "call_id": "c"}]');
select tests.expire_lease((select id from made));
select tests.claim((select id from made));
select private.request_review((select id from made), tests.epoch_of((select id from made)), 1, 'Once more?');
select public.respond_to_review((select id from made), true);
select tests.claim((select id from made));

select is(pg_temp.is_spent(), false, 'the answer has not been spent');
select is(tests.code_of(format('select private.begin_again(%L, %s, 30, ''[1]'')', (select id from made), tests.epoch_of((select id from made)) - 1)), 'LEASE_LOST', 'a stale epoch spends nothing');
select private.begin_again((select id from made), tests.epoch_of((select id from made)), 30, '[1]');
select is(pg_temp.is_spent(), true, 'the answer is spent when the step begins again');
select is((select epoch from public.task_steps where task_id = (select id from made)), tests.epoch_of((select id from made)), 'the step belongs to the current delivery');

select * from finish();
rollback;
