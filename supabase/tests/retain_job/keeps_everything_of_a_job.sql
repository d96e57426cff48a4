begin;
set local search_path = public, extensions;
select plan(8);

create temp table made on commit drop as select n, tests.create_task() as id from generate_series(1, 2) as n;
grant select on made to authenticated, service_role;
select tests.create_user('stranger');
create function pg_temp.kept() returns uuid language sql as $$ select id from made where n = 1 $$;

select tests.act_as_user('stranger');
select is(tests.code_of($$select public.retain_job(pg_temp.kept())$$), 'TASK_NOT_FOUND', 'a stranger finds no task');
select tests.act_as_user('owner');
select ok(public.retain_job(pg_temp.kept()), 'the owner keeps the job');
select tests.act_as_nobody();

insert into public.mcp_executions (mcp_name, tool_name, execution_time_ms, status, task_id, created_at)
select 'notes', 'n' || n, 1, 'success', id, now() - interval '100 days' from made;
update public.tasks set status = 'completed', finished_at = now() - interval '100 days' where id in (select id from made);
update private.task_events set at = now() - interval '100 days';
select private.add_tool_calls(now());
select private.delete_old();

select set_eq('select id from public.tasks', 'select pg_temp.kept()', 'only the kept job remains');
select set_eq('select task_id from public.task_events', 'select pg_temp.kept()', 'with its events');
select set_eq('select task_id from public.mcp_executions', 'select pg_temp.kept()', 'and its tool calls');
select ok(not public.retain_job(pg_temp.kept(), false), 'the job is no longer kept');
select private.delete_old();
select is_empty('select from public.tasks', 'it is deleted like the others');

insert into private.settings (key, value) values ('transcripts_kept_since', clock_timestamp()::text);
insert into made select 3, tests.create_task();
update public.tasks set status = 'completed', finished_at = now() - interval '11 days';
select is(
  tests.code_of($$select private.retain_job(id, true) from made where n = 3$$), 'TASK_NOT_RETRYABLE',
  'a job that retention has begun to delete cannot be kept'
);

select * from finish();
rollback;
