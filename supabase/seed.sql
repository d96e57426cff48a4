-- Initial data of a new project: model providers, and three agents for trying out the platform.
-- Running it again does not change existing rows.

insert into public.llm_providers (
  name, display_name, api, base_url, default_model, requires_api_key, api_key_secret_name, is_free, is_active
)
values
  ('openai', 'OpenAI', 'openai', null, 'gpt-5.4-mini', true, 'OPENAI_API_KEY', false, true),
  ('anthropic', 'Anthropic', 'anthropic', null, 'claude-haiku-5-5', true, 'ANTHROPIC_API_KEY', false, true),
  ('google', 'Google Gemini', 'google', null, 'gemini-3.8-flash', true, 'GOOGLE_API_KEY', false, true),
  ('openrouter', 'OpenRouter', 'openai', 'https://openrouter.ai/api/v1', 'openai/gpt-5.4-mini', true, 'OPENROUTER_API_KEY', false, true),
  ('ollama', 'Ollama', 'openai', 'http://127.0.0.1:11434/v1', 'llama3.2', false, null, true, true),
  -- The embedded stack sets its address and its model, and activates it, when it finds a model server.
  ('local-model', 'Local model server', 'openai', 'http://127.0.0.1:11434/v1', 'llama3.2', false, null, true, false)
on conflict (name) do nothing;

-- The list prices of the catalog.
insert into public.model_prices (
  provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok,
  cache_write_input_micro_usd_per_mtok, output_micro_usd_per_mtok, above_input_tokens, valid_from, retires_on
)
select provider.id, price.model, price.input_micro_usd_per_mtok, price.cached_input_micro_usd_per_mtok,
  price.cache_write_input_micro_usd_per_mtok, price.output_micro_usd_per_mtok, price.above_input_tokens,
  price.valid_from, listed.retires_on
from private.model_catalog_prices as price
join private.model_catalog as listed using (provider, model)
join public.llm_providers as provider on provider.name = price.provider
on conflict do nothing;

-- Answers for the agents below from a script, without an API key; the embedded stack sets its address.
insert into public.llm_providers (name, display_name, api, base_url, default_model, requires_api_key, is_free)
values ('demo', 'Scripted demo model', 'openai', 'http://127.0.0.1:9/v1', 'demo', false, true)
on conflict (name) do nothing;

-- Three agents for trying out the platform.
-- Generated from agents/ by `deno task generate schemas`.
select private.seed_definitions($definitions$
[
  {
    "kind": "agent",
    "slug": "planner",
    "definition": {
      "display_name": "Planner",
      "description": "Plans a report over a folder of Markdown files, hands the reading to readers and writes it up.",
      "prompt": "You write a report over a folder of Markdown documents.\n1. Load the skill report-writing and follow it.\n2. Use the file tools to list the Markdown files in the folder that the task names.\n3. Hand each file to the agent reader with create_subtask, all in one turn. The input is {\"path\": \"<path of the file>\"}.\n4. When every reader has answered, save their digests with save_intermediate_data under the key digests.\n5. Request a human review of your outline with request_human_review, and follow the answer.\n6. Save the finished report as Markdown with save_intermediate_data under the key report.md.\n7. Finish with complete_task; the output is {\"report\": \"report.md\", \"files\": <number of files>, \"summary\": \"<two sentences>\"}.\nIf no reader could read a file, mention it in the report and continue without it.",
      "provider": "demo",
      "temperature": 0.2,
      "handoffs": [
        "reader"
      ],
      "skills": [
        "report-writing"
      ]
    }
  },
  {
    "kind": "agent",
    "slug": "reader",
    "definition": {
      "display_name": "Reader",
      "description": "Reads one Markdown file and answers with its digest.",
      "prompt": "You read one Markdown file with the file tools. Its path is in the input.\nFind its title, its headings, its number of words and its first sentence.\nSave them with save_intermediate_data under the key digest, then finish with complete_task with the same object\n{\"path\", \"title\", \"headings\", \"words\", \"first_sentence\"} as output.",
      "provider": "demo",
      "temperature": 0.2
    }
  },
  {
    "kind": "agent",
    "slug": "writer",
    "definition": {
      "display_name": "Writer",
      "description": "Writes a short announcement, asks a person to approve it and answers with the approved text.",
      "prompt": "You write a short announcement about the topic in the input.\n1. Write a draft of two sentences.\n2. Ask a person to approve it with request_human_review; the context is {\"draft\": \"<the draft>\"}.\n3. If the draft is rejected, finish with complete_task and the output {\"announcement\": null, \"review\": \"<the comments>\"}.\n4. If it is approved, make the changes that the comments request, and finish with complete_task and the output\n{\"announcement\": \"<the text>\", \"review\": \"<the comments>\"}.",
      "provider": "demo",
      "temperature": 0.2
    }
  },
  {
    "kind": "skill",
    "slug": "report-writing",
    "definition": {
      "name": "report-writing",
      "description": "How to write a short, checkable report over several documents. Use it whenever the result is a report.",
      "version": "1.0.0",
      "instructions": "# Writing a report\n\n1. In the first paragraph, say which documents were read and what the report contains.\n2. Give each document a section with its title, a one-sentence summary and its size in words.\n3. State only facts from the digests. Name each document that could not be read.\n4. End with the section \"Review\": who approved the report, and their comments.\n\nThe resource `outline.md` is the outline to fill in.",
      "resources": {
        "outline.md": "# Report: <folder>\n\n<which documents were read>\n\n## <title of a document>\n\n<summary> (<words> words, `<path>`)\n\n## Review\n\n<who approved it, and their comments>\n"
      },
      "metadata": {}
    }
  }
]
$definitions$);
-- End of the generated part.

-- Tool servers that are part of the product, so that agents can have their tools immediately. The functions
-- mcp and mcp-execute add the servers of later versions when they first run.
insert into public.tools (slug, name, type, description, config)
values
  (
    'artifacts', 'Artifacts', 'internal',
    'Reads the intermediate data and files that the tasks of the agent''s job have stored.',
    '{"server": "artifacts"}'
  ),
  (
    'catalog', 'Tool catalog', 'internal',
    'Improves and checks prompts, and keeps conversations and rulesets.',
    '{"server": "catalog"}'
  ),
  (
    'supabase', 'Intelligent Supabase MCP', 'internal',
    'AI-powered database operations with context learning',
    '{"server": "supabase"}'
  ),
  (
    'swarm', 'Swarm', 'internal',
    'Creates tasks for agents, follows their progress, answers their reviews and reads their results.',
    '{"server": "swarm"}'
  ),
  (
    'quoth', 'Quoth', 'internal',
    'Searches and reads the documentation of indexed repositories.',
    '{"server": "quoth"}'
  )
on conflict do nothing;
