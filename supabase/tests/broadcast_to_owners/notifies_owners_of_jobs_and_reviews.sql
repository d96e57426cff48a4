begin;
set local search_path = public, extensions;
select plan(9);

select tests.quiet_realtime();
create function pg_temp.sent_to(p_user text) returns setof text language sql as $$
  select coalesce(payload #>> '{data,status}', event) from realtime.messages
  where topic = 'supaswarm:user:' || tests.user_id(p_user) order by ctid;
$$;
select tests.create_task();
select is_empty($$select pg_temp.sent_to('owner')$$, 'nothing is sent while nobody has joined a user channel');
select ok(
  not tests.join_channel('owner', 'supaswarm:user:' || tests.create_user('stranger')), 'nobody can join another user''s channel'
);
select tests.create_task();
select is_empty($$select pg_temp.sent_to('owner')$$, 'a refused join changes nothing');

select ok(tests.join_channel('owner', 'supaswarm:user:' || tests.user_id('owner')), 'users can join their own channel');
create temp table job on commit drop as select tests.create_task() as id;
select tests.create_task(p_owner => 'stranger');
select private.request_review(id, tests.claim(id), 1, 'May I?') from job;
select results_eq(
  $$select event, payload #>> '{data,status}' from realtime.messages
    where topic = 'supaswarm:user:' || tests.user_id('owner')
      and payload ->> 'master_task_id' = (select id::text from job) order by ctid$$,
  $$values ('job.changed', 'pending'), ('job.changed', 'running'), ('review.requested', null),
    ('job.changed', 'needs_human_review')$$,
  'the channel receives each new status of a job and its review'
);
select is(
  (select payload #>> '{data,question}' from realtime.messages
    where topic like 'supaswarm:user:%' and event = 'review.requested'),
  'May I?', 'the message contains the question'
);
select is(
  (select payload #>> '{data,agent}' from realtime.messages
    where topic like 'supaswarm:user:%' and event = 'job.changed' limit 1),
  'worker-agent', 'the message contains the job''s agent'
);
select is_empty(
  $$select from realtime.messages
    where topic = 'supaswarm:user:' || tests.user_id('owner')
      and (payload ->> 'master_task_id')::uuid not in (select id from public.tasks where created_by = tests.user_id('owner'))$$,
  'it receives nothing about other users'' jobs'
);
select tests.create_family(3);
select is_empty(
  $$select from realtime.messages
    where topic like 'supaswarm:user:%' and event = 'job.changed' and payload ->> 'task_id' <> payload ->> 'master_task_id'$$,
  'it receives nothing about subtasks'
);
select * from finish();
rollback;
