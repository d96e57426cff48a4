begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to anon, authenticated, service_role;
select tests.create_user('stranger'), tests.create_user('operator');
insert into public.mcp_grants (user_id, scopes) values (tests.user_id('operator'), '{swarm:run,swarm:operate}');
create function pg_temp.event_count() returns int language sql as $$
  select jsonb_array_length(public.read_events((select id from made)) -> 'events');
$$;

select tests.act_as_user('owner');
select is(pg_temp.event_count(), 1, 'the owner reads the events');
select tests.act_as_service();
select is(pg_temp.event_count(), 1, 'the service reads them');
select tests.act_as_user('operator');
select is(tests.code_of('select pg_temp.event_count()'), 'JOB_NOT_OPENED', 'an operator first opens the job');
select public.operator_open_job((select id from made), 'Why did it fail?');
select is(pg_temp.event_count(), 1, 'and then reads them');
select tests.act_as_user('stranger');
select is(tests.code_of('select pg_temp.event_count()'), 'TASK_NOT_FOUND', 'a stranger does not');
select tests.act_as_anon();
select is(tests.code_of('select pg_temp.event_count()'), '42501', 'nobody does without an account');
select tests.act_as_nobody();

select * from finish();
rollback;
