begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as
  select tests.create_task() as id, tests.create_task(p_owner => 'other') as other_id;
grant select on made to authenticated, service_role;
-- The "role" claim of a token can name any role that the project's owner has granted to authenticator.
create role project_member;
grant authenticated to project_member;
grant project_member to current_user;

select tests.act_as_user('owner');
select set_config('role', 'project_member', true);
select is(
  tests.code_of(format('select public.cancel_task(%L)', (select other_id from made))), 'TASK_NOT_FOUND',
  'a role that inherits from authenticated does not find another user''s task'
);
select is(public.cancel_task((select id from made)), 1, 'it may cancel its own task');

select tests.act_as_service();
select is(public.cancel_task((select other_id from made)), 1, 'the service may cancel any task');
select tests.act_as_nobody();
select is(public.cancel_task((select other_id from made)), 0, 'a database session may cancel any task');

select * from finish();
rollback;
