begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user('owner'), tests.create_agent('worker-agent');
insert into private.quotas (name, user_id, amount)
values ('active_schedules', tests.user_id('owner'), 1), ('active_webhooks', tests.user_id('owner'), 1);

select tests.act_as_user('owner');
select is(
  tests.code_of($$insert into public.schedules (agent, input, cron, is_active)
    values ('worker-agent', to_jsonb(repeat('x', 1100000)), '@daily', false)$$),
  'TASK_INPUT_INVALID', 'an inactive schedule cannot store an input that no job may have'
);
select is(
  tests.code_of($$insert into public.schedules (agent, input, cron, is_active, metadata)
    values ('worker-agent', '"x"', '@daily', false, jsonb_build_object('a', repeat('x', 1100000)))$$),
  'TASK_INPUT_INVALID', 'it cannot store such metadata either'
);
insert into public.schedules (agent, input, cron, is_active)
select 'worker-agent', '"x"', '@daily', false from generate_series(1, 9);
select is(
  tests.code_of($$insert into public.schedules (agent, input, cron, is_active)
    select 'worker-agent', '"x"', '@daily', false from generate_series(1, 2)$$),
  'QUOTA_EXCEEDED', 'at most ten times the active limit can be stored, however many one statement adds'
);
select is((select count(*) from public.schedules), 9::bigint, 'a refused statement stores nothing');

insert into public.webhooks (url, events, is_active)
select 'https://example.com/' || n, '{task.completed}', false from generate_series(1, 10) as n;
select is(
  tests.code_of($$insert into public.webhooks (url, events, is_active) values ('https://example.com', '{task.failed}', false)$$),
  'QUOTA_EXCEEDED', 'inactive webhooks are limited as well'
);
delete from public.webhooks where url = 'https://example.com/1';
select is(
  tests.code_of($$insert into public.webhooks (url, events, is_active)
    values ('https://example.com', '{task.failed,task.failed}', false)$$),
  'WEBHOOK_INVALID', 'an event can be named only once'
);

select * from finish();
rollback;
