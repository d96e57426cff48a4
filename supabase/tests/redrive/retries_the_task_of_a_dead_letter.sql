begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task() as id;
update public.tasks set max_attempts = 1;
select private.fail_task((select id from made), tests.claim((select id from made)), '{"code": "MODEL_TIMEOUT", "message": "slow"}', 'backoff');
create temp table letter on commit drop as select id from public.dead_letters;
grant select on made, letter to authenticated, service_role;

select tests.act_as_user('owner');
select is(tests.code_of('select public.redrive((select id from letter))'), '42501', 'users have no access to dead letters');
select tests.act_as_service();
select is(tests.code_of('select public.redrive(0)'), 'DEAD_LETTER_NOT_FOUND', 'an unknown dead letter is not found');
select is(public.redrive((select id from letter)), (select id from made), 'the service gets the id of the task');
select is((select retried_at is not null from public.dead_letters), true, 'the dead letter is marked');
select is(tests.code_of('select public.redrive((select id from letter))'), 'TASK_NOT_RETRYABLE', 'it cannot be redriven while the task runs');
select tests.act_as_nobody();

select * from finish();
rollback;
