begin;
set local search_path = public, extensions;
select plan(10);

select tests.create_user('owner'), tests.create_user('operator'), public.grant_scopes(tests.user_id('operator'), '{swarm:operate}');
select tests.create_row_trigger('{"events": ["insert"], "owner_column": "user_id"}');
update public.agents set is_active = false where slug = 'worker-agent';
insert into public.orders (id, user_id) values (1, tests.user_id('owner')), (2, null);
select tests.act_as_user('owner');
insert into public.orders (id, user_id) values (3, tests.user_id('operator'));
select tests.act_as_nobody();
select private.start_row_jobs();
select is((select problem from private.row_trigger_problems() where field = 'starts'),
  'failed 2 times; once: Cannot create the task: the agent ''worker-agent'' is not active', 'failed starts are a problem of the configuration');
insert into public.orders (id) values (4);

select tests.act_as_user('owner');
select is(tests.code_of('select from public.operator_row_starts'), 'INSUFFICIENT_SCOPE', 'others do not see starts');
select is(tests.code_of($$select public.operator_retry_row_starts('orders')$$), 'INSUFFICIENT_SCOPE', 'nor retry them');
select tests.act_as_user('operator');
select results_eq('select row_key, status, code, owner from public.operator_row_starts', $$values
  ('3', 'failed', 'FORBIDDEN', 'owner@example.test'), ('2', 'failed', 'AGENT_INACTIVE', null),
  ('1', 'failed', 'AGENT_INACTIVE', 'owner@example.test'), ('4', 'waiting', null, null)$$, 'operators see what failed, then what waits');
select is(tests.code_of($$select public.operator_retry_row_starts('missing')$$), 'TRIGGER_NOT_FOUND', 'a retry names a trigger');
select tests.act_as_nobody();
update public.agents set is_active = true where slug = 'worker-agent';
select tests.act_as_user('operator');
select is(public.operator_retry_row_starts('orders', array(select id from public.operator_row_starts where row_key = '1')), 1, 'one start is retried');
select is(public.operator_retry_row_starts('orders'), 1, 'or all, but not what is forbidden');
select tests.act_as_nobody();
select private.start_row_jobs();
select is((select count(*) from public.tasks)::int, 3, 'they are jobs then');
select results_eq('select details ->> ''count'' from public.operator_acts where act = ''row_starts.retried''', array['1', '1'], 'who retried them is recorded');
update public.row_triggers set is_active = false;
select is(tests.code_of($$select public.operator_retry_row_starts('orders')$$), 'TRIGGER_INACTIVE', 'an inactive trigger starts nothing');

select * from finish();
rollback;
