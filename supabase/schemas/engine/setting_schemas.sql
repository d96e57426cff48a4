-- Settings: what a project has beside the definitions of agents/ as one JSON document each. This file has their kinds
-- and the JSON Schemas of the documents, by which they are checked and from which the console makes its forms. They are
-- json and not jsonb, which would change the order of the fields.

create function private.setting_kinds()
returns text[]
language sql
immutable
set search_path = ''
as $$
  select '{server,limit,provider,model,policy,quota,audience,retention,documents}'::text[];
$$;
comment on function private.setting_kinds() is
  'The kinds of settings: external MCP servers, limits of tool calls, model providers, prices of models, policies of models, quotas, the accounts that agents and shared credentials are for, retention, and projects with documents.';

create function private.closed_schema(p_properties json, p_required json default '[]')
returns json
language sql
immutable
set search_path = ''
as $$
  select json_build_object('type', 'object', 'additionalProperties', false, 'required', p_required, 'properties', p_properties);
$$;
comment on function private.closed_schema(json, json) is 'The JSON Schema of an object that has only these members.';

create function private.provider_schema()
returns json
language sql
immutable
set search_path = ''
as $$
  select private.closed_schema('{
    "display_name": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The name that people read."},
    "api": {"enum": ["openai", "anthropic", "google"], "description": "The wire format of its API."},
    "base_url": {"type": "string", "format": "uri", "description": "Its address. Without it, that of the vendor who defines the wire format."},
    "default_model": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The model of agents that name none, as the provider calls it."},
    "requires_api_key": {"type": "boolean", "default": true, "description": "Whether calls without a key are refused."},
    "api_key_secret_name": {"type": "string", "minLength": 1, "maxLength": 100, "description": "Name of the project''s key, which is set under Keys. Without it, the name of the provider followed by _API_KEY."},
    "is_free": {"type": "boolean", "default": false, "description": "Its models cost nothing, such as those of your own server. They need no prices."},
    "is_active": {"type": "boolean", "default": true}
  }', '["display_name", "api", "default_model"]');
$$;
comment on function private.provider_schema() is 'The JSON Schema of a provider.';

create function private.model_schema()
returns json
language sql
immutable
set search_path = ''
as $$
  select private.closed_schema(json_build_object(
    'retires_on', '{"type": "string", "format": "date", "description": "First day on which the provider may stop serving the model."}'::json,
    'prices', json_build_object(
      'type', 'array', 'minItems', 1, 'maxItems', 100,
      'description', 'A change of prices is an entry with a later valid_from; the entries before remain.',
      'items', private.closed_schema('{
        "valid_from": {"type": "string", "minLength": 10, "maxLength": 40, "description": "A day, such as 2026-12-01, or a time in UTC, such as 2026-12-01T09:00:00Z."},
        "input_usd_per_mtok": {"type": "number", "minimum": 0, "maximum": 1000000, "description": "US dollars per million tokens of input."},
        "output_usd_per_mtok": {"type": "number", "minimum": 0, "maximum": 1000000, "description": "US dollars per million tokens of output."},
        "cached_input_usd_per_mtok": {"type": "number", "minimum": 0, "maximum": 1000000, "description": "For input that the provider has cached. Without it, the price of other input."},
        "cache_write_input_usd_per_mtok": {"type": "number", "minimum": 0, "maximum": 1000000, "description": "For input that the provider writes to its cache. Without it, the price of other input."},
        "above_input_tokens": {"type": "integer", "minimum": 0, "default": 0, "description": "Prices whole calls with more input tokens than this."},
        "web_search_usd_per_call": {"type": "number", "minimum": 0, "maximum": 1000000, "description": "For one search that the provider runs. Without it, the cost of such a call is unknown."},
        "code_execution_usd_per_call": {"type": "number", "minimum": 0, "maximum": 1000000, "description": "For one program that the provider runs. Without it, the cost of such a call is unknown."}
      }', '["valid_from", "input_usd_per_mtok", "output_usd_per_mtok"]')
    )
  ), '["prices"]');
$$;
comment on function private.model_schema() is 'The JSON Schema of the prices of a model.';

create function private.policy_schema()
returns json
language sql
immutable
set search_path = ''
as $$
  select private.closed_schema('{
    "is_allowed": {"type": "boolean", "default": true, "description": "Whether the models may be called."},
    "allow_own_key": {"type": "boolean", "default": true, "description": "Whether users may call them with their own key."},
    "allow_organisation_key": {"type": "boolean", "default": true, "description": "Whether users may call them with the project''s key."},
    "spending_cap_usd": {"type": "number", "minimum": 0, "maximum": 1000000000, "description": "The most that all calls with the project''s key may cost together in a period, in US dollars."},
    "cap_period": {"enum": ["day", "month"], "default": "month", "description": "A calendar day or month in UTC."}
  }');
$$;
comment on function private.policy_schema() is 'The JSON Schema of a policy of models.';

create function private.limit_schema()
returns json
language sql
immutable
set search_path = ''
as $$
  select private.closed_schema('{
    "is_allowed": {"type": "boolean", "default": true, "description": "Whether the tools may be called."},
    "calls_per_minute": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 600, "description": "Sustained calls of each user."},
    "burst_calls": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 200, "description": "Calls that each user may make at once."},
    "timeout_ms": {"type": "integer", "minimum": 1, "maximum": 600000, "description": "Instead of the timeout of the tool."},
    "max_input_bytes": {"type": "integer", "minimum": 1, "maximum": 1000000000, "description": "The most bytes of a call''s arguments as JSON."}
  }');
$$;
comment on function private.limit_schema() is 'The JSON Schema of a limit of tool calls.';

create function private.audience_schema()
returns json
language sql
immutable
set search_path = ''
as $$
  select private.closed_schema('{
    "accounts": {"type": "array", "maxItems": 1000, "items": {"type": "string", "minLength": 1, "maxLength": 200},
      "description": "Email addresses or ids of accounts."}
  }', '["accounts"]');
$$;
comment on function private.audience_schema() is 'The JSON Schema of the accounts that an agent or a shared credential is for.';

create function private.quota_schema()
returns json
language sql
immutable
set search_path = ''
as $$
  select private.closed_schema(json_object_agg(name, json_build_object('anyOf', json_build_array(
    '{"title": "At most", "type": "integer", "minimum": 0, "maximum": 9007199254740991}'::json,
    '{"title": "No limit", "type": "null"}'::json
  ))))
  from unnest(private.quota_names()) as name;
$$;
comment on function private.quota_schema() is 'The JSON Schema of the quotas of everyone or of an account.';

create function private.retention_schema()
returns json
language sql
immutable
set search_path = ''
as $$
  select private.closed_schema(json_object_agg(key, json_build_object(
    -- Monthly caps count the model calls of the month.
    'type', 'integer', 'minimum', case key when 'keep_usage_days' then 32 else 1 end, 'maximum', 99999,
    'default', value, 'description', format('In days. Default %s.', value)
  )))
  from jsonb_each(private.default_retention());
$$;
comment on function private.retention_schema() is 'The JSON Schema of the retention of a project.';

create function private.server_schema()
returns json
language plpgsql
stable
set search_path = ''
as $$
begin
  return private.closed_schema(json_build_object(
    'display_name', '{"type": "string", "minLength": 1, "maxLength": 200, "description": "The name that people read."}'::json,
    'description', '{"type": "string", "maxLength": 2000}'::json,
    'config', ((select known.schema from private.config_schemas as known where known.kind = 'mcp_server')
      || '{"required": ["mcp_url"], "description": "Where the server is, and what is used of it."}')::json,
    'credential', private.closed_schema('{
      "secret": {"type": "string", "minLength": 1, "maxLength": 100, "description": "Name of the shared credential, which is set under Keys."},
      "type": {"enum": ["api_key", "bearer_token"]},
      "description": {"type": "string", "maxLength": 2000},
      "audience": {"enum": ["everyone", "agents", "named"], "default": "everyone", "description": "Whose calls may use the shared credential."}
    }', '["secret", "type"]'),
    'data_flows', '{"type": "object", "description": "Of a tool, or of all tools (*).", "additionalProperties":
      {"type": "array", "items": {"enum": ["reads_private", "reads_outside", "sends_outside"]}}}'::json,
    'audience', '{"enum": ["everyone", "granted"], "default": "granted", "description": "Who may use the server: everyone who may run jobs, or only accounts with the scope mcp:<name>."}'::json,
    'is_active', '{"type": "boolean", "default": true}'::json
  ), '["config"]');
end;
$$;
comment on function private.server_schema() is 'The JSON Schema of an external MCP server.';

create function private.documents_schema()
returns json
language sql
immutable
set search_path = ''
as $$
  select private.closed_schema('{
    "github_repo": {"type": "string", "minLength": 3, "maxLength": 200, "description": "The repository on GitHub, as owner/name."},
    "default_branch": {"type": "string", "minLength": 1, "maxLength": 200, "default": "main", "description": "The branch to follow."},
    "include_globs": {"type": "array", "minItems": 1, "maxItems": 100, "items": {"type": "string", "minLength": 1, "maxLength": 200},
      "description": "Glob patterns of the paths to index; !… excludes. Default **/*.md and **/*.mdx."},
    "language": {"type": "string", "minLength": 1, "maxLength": 63, "default": "english", "description": "Text-search configuration of Postgres."},
    "embedder": {"type": "string", "minLength": 1, "maxLength": 100, "description": "A name from embedders. Another than before starts a switch in the background."},
    "members": {"type": "array", "maxItems": 1000, "items": {"type": "string", "minLength": 1, "maxLength": 200},
      "description": "Email addresses or ids of the accounts that may read the documents."}
  }', '["github_repo"]');
$$;
comment on function private.documents_schema() is 'The JSON Schema of a project with documents.';

create function private.setting_schema(p_kind text)
returns json
language plpgsql
stable
set search_path = ''
as $$
begin
  return case p_kind
    when 'server' then private.server_schema()
    when 'limit' then private.limit_schema()
    when 'provider' then private.provider_schema()
    when 'model' then private.model_schema()
    when 'policy' then private.policy_schema()
    when 'quota' then private.quota_schema()
    when 'audience' then private.audience_schema()
    when 'retention' then private.retention_schema()
    when 'documents' then private.documents_schema()
  end;
end;
$$;
comment on function private.setting_schema(text) is 'The JSON Schema of the documents of a kind of setting; null for another kind.';
