begin;
set local search_path = public, extensions;
select plan(2);

select tests.create_agent('triager');
insert into public.tools (slug, name, type, config)
values ('desk', 'Desk', 'mcp_server', '{"mcp_url": "https://desk.example.com/mcp"}');
select public.grant_scopes(null, '{mcp:desk}');
insert into public.agent_tools (agent_id, tool_id, allowed_tools)
select agent.id, tool.id, '{create_ticket}' from public.agents as agent, public.tools as tool where agent.slug = 'triager' and tool.slug = 'desk';
insert into public.agent_approvals (agent_id, tool_id, tool_name, ask)
select agent.id, tool.id, 'create_tiket', 'always' from public.agents as agent, public.tools as tool where agent.slug = 'triager' and tool.slug = 'desk';

select is(
  (select array[field, problem, hint] from public.operator_configuration_problems where kind = 'agent' and name = 'triager'),
  array[
    'approvals.desk', 'names the tool "create_tiket", which the agent may not call',
    'Did you mean "create_ticket"? It may call create_ticket.'
  ],
  'a mistyped rule is listed before the server has listed its tools'
);
update public.agent_approvals set tool_name = 'create_ticket';
select is_empty($$ select from public.operator_configuration_problems where kind = 'agent' and name = 'triager' $$, 'and a correct one is not');

select * from finish();
rollback;
