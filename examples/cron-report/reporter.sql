-- The agent of the report. It reads the caller's own jobs with the tools of the server `swarm`.
insert into agents (name, slug, description, system_prompt, model, provider_id)
select 'Reporter', 'reporter', 'Writes a short report about the jobs of a user.',
  'You write a short report in Markdown. Read the jobs with list_tasks and get_task; invent nothing.',
  null, id
from llm_providers where name = 'openai';

insert into agent_tools (agent_id, tool_id, allowed_tools)
select agents.id, tools.id, array['list_tasks', 'get_task']
from agents, tools where agents.slug = 'reporter' and tools.slug = 'swarm';
