begin;
set local search_path = public, extensions;
select plan(7);

select tests.create_user('owner'), tests.create_agent('worker-agent');
insert into private.quotas (name, amount) values ('max_cost_micro_usd', 500), ('max_depth', 40), ('max_tasks', 20);
create function pg_temp.budget_of(p_budget jsonb, p_owner uuid default tests.user_id('owner')) returns jsonb language plpgsql as $$
declare
  v_id uuid := (select task_id from private.create_task('worker-agent', '{}', p_owner, p_budget => p_budget));
begin
  return (select budget from public.tasks where id = v_id);
end;
$$;

select is(pg_temp.budget_of(null), '{"max_cost_micro_usd": 500, "max_depth": 32, "max_tasks": 20}', 'a job without a budget gets the ceilings, and the defaults that are below them');
select is(
  pg_temp.budget_of('{"max_cost_micro_usd": null, "max_depth": null, "max_tasks": null}'),
  '{"max_cost_micro_usd": 500, "max_depth": 40, "max_tasks": 20}', 'null does not remove a ceiling'
);
select is(pg_temp.budget_of('{"max_cost_micro_usd": 100, "max_steps": 7}') -> 'max_cost_micro_usd', '100', 'a smaller cap is kept');
select is(pg_temp.budget_of('{"max_steps": 7}') -> 'max_steps', '7', 'a cap without a ceiling is kept');
select is(
  tests.code_of($$select pg_temp.budget_of('{"max_cost_micro_usd": 501}')$$), 'TASK_BUDGET_INVALID', 'a larger cap is refused'
);
select is(pg_temp.budget_of(null, null), null, 'the service has no ceilings');
delete from private.quotas where name like 'max%';
select is(pg_temp.budget_of(null), null, 'without ceilings a budget is unchanged');

select * from finish();
rollback;
