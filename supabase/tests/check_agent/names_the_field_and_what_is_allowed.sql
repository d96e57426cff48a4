begin;
set local search_path = public, extensions;
select plan(12);

select tests.create_agent('writer');
create function pg_temp.refusal(p_change text) returns text language plpgsql as $$
declare
  v_code text;
  v_hint text;
begin
  execute format('update public.agents set %s where slug = ''writer''', p_change);
  return null;
exception when others then
  get stacked diagnostics v_code = pg_exception_detail, v_hint = pg_exception_hint;
  return format('%s | %s | %s', v_code, sqlerrm, v_hint);
end;
$$;

update public.agents set provider_id = null where slug = 'writer';
select matches(
  (select problem || ' ' || hint from public.operator_configuration_problems where kind = 'agent' and name = 'writer' and field = 'provider_id'),
  'is missing, .* Use the id of one of the providers .*test', 'a missing provider is listed');
select matches(pg_temp.refusal($$output_schema = '{"type": "objekt"}'$$),
  'output_schema\.type is "objekt" \| Did you mean "object"\?', 'output_schema is a JSON Schema');
select matches(pg_temp.refusal($$input_schema = '{"properties": {"a": {"required": true}}}'$$),
  'input_schema\.properties\.a\.required is true', 'so is input_schema');
select matches(pg_temp.refusal($$reasoning_effort = 'hihg'$$), 'reasoning_effort is "hihg" \| Did you mean .*"high"', 'an effort is one of a list');
select matches(pg_temp.refusal($$provider_tools = '{web_serch}'$$), 'provider_tools is "web_serch" \| Did you mean "web_search"\?', 'so are the provider''s tools');
select matches(pg_temp.refusal($$budget = '{"max_step": 3}'$$), 'budget is "max_step" \| Did you mean "max_steps"', 'so are the caps of a budget');
select matches(pg_temp.refusal($$slug = 'My Writer'$$), 'slug is "My Writer"', 'a slug has its form');
select matches(pg_temp.refusal($$slug = 'ag-ui'$$), 'slug is "ag-ui", which is a part of an endpoint''s path', 'and is no word of a path');
update public.agents set is_active = false where slug = 'writer';
select is_empty($$select from public.operator_configuration_problems where kind = 'agent' and name = 'writer'$$, 'an inactive agent needs no provider');
select throws_ok(
  $$insert into public.llm_providers (name, display_name, api, default_model, requires_api_key) values ('x', 'x', 'opnai', 'm', false)$$,
  'PT422', 'Cannot save the provider "x": api is "opnai"', 'a provider is checked too'
);

select is(tests.code_of($$update public.agents set audience = 'everybody' where slug = 'writer'$$), 'AGENT_INVALID', 'agents have a code');
select is(tests.code_of($$update public.llm_providers set base_url = 'x' where name = 'test'$$), 'PROVIDER_INVALID', 'so have providers');

select * from finish();
rollback;
