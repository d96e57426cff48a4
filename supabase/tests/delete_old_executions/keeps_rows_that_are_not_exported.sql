begin;
set local search_path = public, extensions;
select plan(5);

insert into public.mcp_executions (id, mcp_name, tool_name, execution_time_ms, status, error_message, created_at)
select md5(name)::uuid, 'notes', name, 1, status, case status when 'error' then 'It broke' end, created_at
from (values
  ('worked', 'success', now() - interval '40 days'),
  ('failed', 'error', now() - interval '40 days'),
  ('graded now', 'success', now() - interval '40 days'),
  ('new', 'success', now())
) as call (name, status, created_at);
insert into public.mcp_failures (execution_id, error_type, created_at)
values (md5('failed')::uuid, 'tool_error', now() - interval '40 days');
insert into public.mcp_feedback (execution_id, feedback_token, rating)
values (md5('graded now')::uuid, gen_random_uuid(), 'up');

create function pg_temp.kept()
returns text language sql as $$
  select string_agg(tool_name, ', ' order by tool_name) from public.mcp_executions where mcp_name = 'notes'
$$;

update private.exports set exported_until = (now() - interval '50 days')::date;
select private.add_tool_calls(now());
insert into private.settings (key, value) values ('keep_executions_days', '99999');
select is(private.delete_old_executions(10), 0, 'a long setting keeps everything');
update private.settings set value = '30' where key = 'keep_executions_days';
select is(private.delete_old_executions(10), 1, 'rows that need no export are deleted');
select is(pg_temp.kept(), 'failed, graded now, new', 'rows that are recent or not exported are kept');

update private.exports set exported_until = (now() - interval '1 day')::date;
select private.delete_old();
select is(pg_temp.kept(), 'graded now, new', 'an exported failure is deleted with its call');
select is((select count(*)::int from public.mcp_failures where execution_id = md5('failed')::uuid), 0, 'the failure row is deleted too');

select * from finish();
rollback;
