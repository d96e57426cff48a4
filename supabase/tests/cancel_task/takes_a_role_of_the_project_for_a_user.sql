begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as
  select tests.create_task() as id, tests.create_task(p_owner => 'other') as other_id;
grant select on made to authenticated, service_role;
-- A token's claim "role" may name any role that the project's owner has granted to authenticator.
create role project_member;
grant authenticated to project_member;
grant project_member to current_user;

select tests.act_as_user('owner');
select set_config('role', 'project_member', true);
select is(
  tests.code_of(format('select public.cancel_task(%L)', (select other_id from made))), 'TASK_NOT_FOUND',
  'another''s task is none to a role that inherits from authenticated'
);
select is(public.cancel_task((select id from made)), 1, 'its own task it may cancel');

select tests.act_as_service();
select is(public.cancel_task((select other_id from made)), 1, 'the service may cancel any');
select tests.act_as_nobody();
select is(public.cancel_task((select other_id from made)), 0, 'and so may a session of the database');

select * from finish();
rollback;
