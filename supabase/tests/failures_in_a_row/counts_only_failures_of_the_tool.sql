begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_user('owner');
insert into public.tools (slug, name, type, config)
values ('notes', 'Notes', 'mcp_server', '{"mcp_url": "https://notes.example.com"}');

create function pg_temp.failures_after(p_code text) returns int language plpgsql as $$
declare
  v_tool_id constant uuid := (select id from public.tools where slug = 'notes');
begin
  return private.record_execution(jsonb_build_object(
    'id', gen_random_uuid(), 'feedback_token', gen_random_uuid(), 'mcp_name', 'notes', 'tool_name', 'search',
    'tool_id', v_tool_id, 'user_id', tests.user_id('owner'), 'attempt', 1, 'execution_time_ms', 1,
    'model_uses', '[]'::jsonb, 'contact', 'none',
    'status', case when p_code = 'success' then 'success' else 'error' end,
    'error_message', case when p_code <> 'success' then 'It broke' end,
    'failure', case when p_code <> 'success' then jsonb_build_object(
      'error_type', coalesce((select error_type from private.error_codes where code = p_code), 'tool_error'),
      'error_code', nullif(p_code, 'own words')) end
  ));
end;
$$;

select is(pg_temp.failures_after('TOOL_FAILED'), 1, 'a failure that the tool reports counts');
select set_eq(
  $$select pg_temp.failures_after(code) from private.error_codes where not counts_as_failure$$,
  $$values (1)$$,
  'refusals do not count: credentials, limits, configuration, or a caller that disconnected'
);
select is(pg_temp.failures_after('own words'), 2, 'an error with the tool''s own text counts');
select pg_temp.failures_after('success');
select is(pg_temp.failures_after('AUTHORIZATION_REQUIRED'), 0, 'a refusal after a success does not count as a first failure');

select * from finish();
rollback;
