begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_user('owner'), tests.create_user('other'), tests.create_agent('worker-agent'), tests.create_agent('payroll');
update public.agents set audience = 'named', system_prompt = 'The salaries are …' where slug = 'payroll';
insert into public.agent_audience (agent_id, user_id) select id, tests.user_id('owner') from public.agents where slug = 'payroll';

select lives_ok($$select private.create_task('payroll', '{}', tests.user_id('owner'))$$, 'a named user may use it');
select is(tests.code_of($$select private.create_task('payroll', '{}', tests.user_id('other'))$$), 'AGENT_NOT_FOUND', 'no other user may use it');
select lives_ok($$select private.create_task('payroll', '{}', null)$$, 'the service may use it');
select lives_ok($$select private.create_task('worker-agent', '{}', tests.user_id('other'))$$, 'an agent for everyone still works');

create temp table done (id uuid) on commit drop;
insert into done select task_id from private.create_task('payroll', '{}', tests.user_id('owner'));
select private.cancel_task(id) from done;
delete from public.agent_audience;
select tests.act_as_user('owner');
select is(tests.code_of(format('select public.fork_task(%L, 1)', (select task_id from public.task_events where type = 'task.cancelled' limit 1))),
  'AGENT_NOT_FOUND', 'a fork is a new job and is refused');
select tests.act_as_nobody();
insert into public.agent_audience (agent_id, user_id) select id, tests.user_id('owner') from public.agents where slug = 'payroll';

select tests.act_as_user('other');
select is_empty($$select slug from public.agents where slug = 'payroll'$$, 'other users do not see it');
select throws_ok($$select system_prompt from public.agents$$, '42501', null, 'no user can read a prompt');
select is_empty($$select * from public.agent_audience$$, 'a user does not see who else is named');
select tests.act_as_user('owner');
select isnt_empty($$select slug from public.agents where slug = 'payroll'$$, 'a named user sees it');
select tests.act_as_nobody();

select * from finish();
rollback;
