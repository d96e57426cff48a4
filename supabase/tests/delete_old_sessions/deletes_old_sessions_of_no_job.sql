begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_task();
insert into public.sessions (id, user_id, client_name, last_seen_at)
select coalesce((select id from public.tasks where seen.name = 'job'), gen_random_uuid()), tests.user_id('owner'), seen.name, seen.at
from (values
  ('old', now() - interval '40 days'),
  ('job', now() - interval '40 days'),
  ('new', now())
) as seen (name, at);
insert into public.mcp_executions (mcp_name, tool_name, execution_time_ms, status, session_id)
select 'notes', 'add', 1, 'success', id from public.sessions where client_name = 'old';

insert into private.settings (key, value) values ('keep_executions_days', '99999');
select is(private.delete_old_sessions(10), 0, 'a long setting keeps everything');
update private.settings set value = '30' where key = 'keep_executions_days';
select is((private.delete_old() ->> 'sessions')::int, 1, 'an old session is deleted');
select is(
  (select string_agg(client_name, ', ' order by client_name) from public.sessions),
  'job, new', 'sessions of jobs or in use are kept'
);

select isnt((select session_id from public.mcp_executions), null, 'a call keeps the id of its deleted session');

select * from finish();
rollback;
