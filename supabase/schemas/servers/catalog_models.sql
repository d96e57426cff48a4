-- The models that the tools of the server catalog call.

insert into public.mcp_tool_models
  (mcp_name, tool_name, default_provider, default_model, supported_providers, timeout_ms)
values
  ('catalog', 'enhance_prompt', 'openrouter', null, '{openrouter,openai,anthropic,google}', 120000),
  ('catalog', 'draft_variations', 'openrouter', null, '{openrouter,openai,anthropic,google}', 120000);
