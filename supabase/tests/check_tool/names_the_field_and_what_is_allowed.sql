begin;
set local search_path = public, extensions;
select plan(14);

create function pg_temp.refusal(p_type text, p_config jsonb) returns text language plpgsql as $$
declare
  v_code text;
  v_hint text;
begin
  insert into public.tools (slug, name, type, config) values ('crm', 'crm', p_type, p_config);
  return null;
exception when others then
  get stacked diagnostics v_code = pg_exception_detail, v_hint = pg_exception_hint;
  return format('%s | %s | %s', v_code, sqlerrm, v_hint);
end;
$$;
create function pg_temp.http(p_change jsonb) returns text language sql as $$
  select pg_temp.refusal('http_api', jsonb_strip_nulls(
    '{"method": "GET", "url": "https://crm.example.com/{id}", "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}}'
    || p_change));
$$;

select is(
  pg_temp.http('{"url": "ftp://crm.example.com"}'),
  'TOOL_CONFIG_INVALID | Cannot save the tool "crm": config.url is "ftp://crm.example.com" | Write an absolute URL that begins with https:// or http://.',
  'an ftp address is refused'
);
select matches(pg_temp.http('{"method": null}'),
  'config lacks method, one of \["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"\]', 'a method is required');
select matches(pg_temp.http('{"method": "GETT"}'), 'config\.method is not one of .*did you mean "GET"\?', 'a wrong method gets the nearest one');
select matches(pg_temp.http('{"metod": "GET"}'), 'config\.metod is not allowed; did you mean "method"\?', 'so does an unknown field');
select matches(pg_temp.http('{"parameters": {"type": "objekt"}}'),
  'config\.parameters\.type is "objekt" \| Did you mean "object"\? Allowed values are string, number,', 'parameters are a JSON Schema');
select matches(pg_temp.http('{"url": "https://crm.example.com/{ids}"}'),
  'config\.url has the placeholder \{ids\}, which is not a parameter \| Did you mean "id"\?', 'a placeholder is a parameter');
select matches(pg_temp.http('{"url": "https://{id}/x"}'), 'config\.url has a placeholder in its host .*allowed_hosts', 'a host is fixed or listed');
select matches(pg_temp.refusal('mcp_server', '{"mcp_url": "crm.example.com/mcp"}'), 'config\.mcp_url is "crm\.example\.com/mcp"', 'an MCP server has an http(s) address');
select matches(pg_temp.refusal('mcp_serve', '{}'), 'type is "mcp_serve" \| Did you mean "mcp_server"\?', 'a type is one of four');
select matches(pg_temp.refusal('supabase_rpc', '{"function": "public.cancel_tsk"}'),
  'config\.function is "public\.cancel_tsk", which cannot be a tool: it does not exist \| Did you mean "public\.cancel_task"', 'a function exists');
select matches(pg_temp.refusal('supabase_rpc', '{"edge_function": "../x"}'), 'config\.edge_function is "\.\./x"', 'an edge function has a name');
select is(pg_temp.http('{"method": "get"}'), null, 'a method in small letters is accepted');
update public.tools set slug = 'first', name = 'first' where slug = 'crm';
select is(pg_temp.refusal('internal', '{"server": "swarm"}'), null, 'a server of the product is accepted');
select throws_ok(
  $$update public.tools set config = config || '{"timeout_ms": 0}' where slug = 'first'$$,
  'PT422', 'Cannot save the tool "first": config.timeout_ms is outside the limits of the schema: minimum 1, maximum 600000', 'an update is checked too'
);

select * from finish();
rollback;
