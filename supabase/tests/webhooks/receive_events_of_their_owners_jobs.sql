begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_user('owner'), tests.create_user('stranger'), tests.create_agent('worker-agent');
select tests.create_task();
select is((select count(*) from public.webhook_messages)::int, 0, 'without a webhook nothing is written');

select tests.act_as_user('owner');
insert into public.webhooks (name, url, events) values
  ('ends', 'https://hooks.example/ends', '{task.completed,task.failed,task.cancelled}'),
  ('starts', 'https://hooks.example/starts', '{task.created}');
insert into public.webhooks (name, url, events, is_active) values ('off', 'https://hooks.example/off', '{task.created}', false);
select tests.act_as_user('stranger');
insert into public.webhooks (name, url, events) values ('strange', 'https://hooks.example/strange', '{task.created,task.cancelled}');

select tests.act_as_nobody();
create temp table job on commit drop as select tests.create_family(2) as id;
select results_eq(
  $$select webhook.name, message.task_id, message.status from public.webhook_messages as message
    join public.webhooks as webhook on webhook.id = message.webhook_id$$,
  $$select 'starts', id, 'pending' from job$$, 'the job''s owner gets the selected events, and none of subtasks'
);
update job set id = tests.create_task();
select private.cancel_task((select id from job));
select results_eq(
  $$select payload ->> 'type', payload #>> '{data,task_id}', payload #>> '{data,agent}', payload ? 'timestamp'
    from public.webhook_messages as message join public.webhooks as webhook on webhook.id = message.webhook_id
    where webhook.name = 'ends'$$,
  $$select 'task.cancelled', id::text, 'worker-agent', true from job$$, 'the message contains the event and the task'
);

select tests.act_as_user('owner');
select is((select count(*) from public.webhook_messages)::int, 3, 'the owner can read the log');
select tests.act_as_user('stranger');
select is((select count(*) from public.webhook_messages)::int, 0, 'a stranger cannot read the log');
select is(tests.code_of($$insert into public.webhooks (url, events) values ('ftp://x', '{task.created}')$$), 'WEBHOOK_INVALID', 'the URL must be valid');
select is(tests.code_of($$insert into public.webhooks (url, events) values ('https://x', '{model.delta}')$$), 'WEBHOOK_INVALID', 'the events must be known');
select is(tests.code_of($$insert into public.webhooks (url, events) values ('https://x', '{}')$$), 'WEBHOOK_INVALID', 'at least one event is required');

select tests.act_as_nobody();
update public.webhooks set includes_subtasks = true where name = 'starts';
select tests.create_family(2);
select is((select count(*) from public.webhook_messages as message join public.webhooks as webhook on webhook.id = message.webhook_id
  where webhook.name = 'starts')::int, 5, 'subtasks are reported if the row includes them');

select * from finish();
rollback;
