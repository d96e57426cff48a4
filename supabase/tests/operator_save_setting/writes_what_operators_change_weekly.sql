begin;
set local search_path = public, extensions;
select plan(32);
select tests.create_user(name) from unnest(array['holder', 'looker', 'ada']) as name;
select public.grant_scopes(tests.user_id('holder'), '{swarm:operate, swarm:configure}');
select public.grant_scopes(tests.user_id('looker'), '{swarm:operate}');
create function pg_temp.save(p_kind text, p_slug text, p_definition jsonb, p_is_dry_run boolean default false) returns jsonb language sql as $$
  select public.operator_save_definition(p_kind => p_kind, p_slug => p_slug, p_definition => p_definition,
    p_base => (select definition from public.operator_settings where kind = p_kind and slug = p_slug), p_is_dry_run => p_is_dry_run)
$$;
create function pg_temp.problem(p_kind text, p_slug text, p_definition jsonb) returns text language plpgsql as $$
begin
  perform pg_temp.save(p_kind, p_slug, p_definition);
  return null;
exception when others then
  return sqlerrm;
end;
$$;
create function pg_temp.stale_hint() returns text language plpgsql as $$
declare
  v_hint text;
begin
  perform public.operator_save_definition('retention', 'project', '{}', '{"keep_tool_days": 1}');
  return null;
exception when others then
  get stacked diagnostics v_hint = pg_exception_hint;
  return v_hint;
end;
$$;
create function pg_temp.document(p_kind text, p_slug text) returns jsonb language sql as $$
  select definition from public.operator_settings where kind = p_kind and slug = p_slug
$$;
select tests.create_agent('closed');
update public.agents set audience = 'named' where slug = 'closed';
insert into public.tools (name, slug, type, config, credential_audience)
values ('guarded', 'guarded', 'mcp_server', '{"mcp_url": "https://guarded.test"}', 'agents');
create table pg_temp.written (kind text, slug text, definition jsonb);
insert into pg_temp.written values
  ('server', 'files', '{"config": {"mcp_url": "https://files.test/mcp"}, "credential": {"secret": "FILES_TOKEN", "type": "bearer_token"}}'),
  ('limit', 'files for ada@example.test', '{"calls_per_minute": 5, "timeout_ms": 1000}'),
  ('audience', 'agent/closed', '{"accounts": ["ada@example.test"]}'),
  ('audience', 'tool/guarded', '{"accounts": ["ada@example.test", "looker@example.test"]}'),
  ('provider', 'acme', '{"display_name": "Acme", "api": "openai", "base_url": "https://acme.test/v1", "default_model": "acme/small-1", "api_key_secret_name": "ACME_API_KEY"}'),
  ('model', 'acme/acme/small-1', '{"retires_on": "2027-05-01", "prices": [
    {"valid_from": "2026-11-01", "input_usd_per_mtok": 0.75, "cached_input_usd_per_mtok": 0.075, "output_usd_per_mtok": 4.5},
    {"valid_from": "2027-01-01T09:30:00Z", "above_input_tokens": 200000, "input_usd_per_mtok": 2, "cached_input_usd_per_mtok": 1, "output_usd_per_mtok": 9}]}'),
  ('policy', 'acme/acme/small-1 for ada@example.test', '{"spending_cap_usd": 12.5, "cap_period": "day", "allow_own_key": false}'),
  ('policy', 'acme', '{"is_allowed": false}'),
  ('quota', 'ada@example.test', '{"running_tasks": 2, "max_steps": null}'),
  ('retention', 'project', '{"keep_jobs_days": 30}'),
  ('documents', 'handbook', '{"github_repo": "acme/handbook", "default_branch": "next", "members": ["ada@example.test"]}');
grant select on pg_temp.written to authenticated;

select tests.act_as_user('looker');
select results_eq(
  $$select kind, tests.code_of(format('select public.operator_save_definition(%L, %L, %L)', kind, slug, definition)) from pg_temp.written$$,
  $$select kind, 'INSUFFICIENT_SCOPE' from pg_temp.written$$, 'an operator without swarm:configure changes nothing'
);
select results_eq(
  $$select kind, schema ->> 'type' from public.operator_setting_kinds order by kind$$,
  $$select kind, 'object' from unnest(array['audience', 'documents', 'limit', 'model', 'policy', 'provider', 'quota', 'retention', 'server']) as kind$$,
  'but reads the schema of each kind'
);
select tests.act_as_nobody();

select tests.act_as_user('holder');
select is(pg_temp.save('provider', 'acme', (select definition from pg_temp.written where kind = 'provider'), true) -> 'before', 'null', 'a dry run says what would change');
select is(pg_temp.document('provider', 'acme'), null, 'and changes nothing');
select results_eq(
  $$select kind, slug, pg_temp.save(kind, slug, definition) -> 'after' from pg_temp.written$$,
  $$select kind, slug, definition from pg_temp.written$$, 'each kind is written as its document says'
);
select results_eq(
  $$select written.kind, written.slug, known.definition from pg_temp.written as written
    join public.operator_settings as known using (kind, slug)$$,
  $$select kind, slug, definition from pg_temp.written$$, 'and read in the same words'
);
select is(
  (select count(*) from public.operator_acts where act = 'definition.saved' and operator_email = 'holder@example.test'), 11::bigint,
  'each change is recorded'
);
select is(
  tests.code_of(format($$select public.operator_save_definition('provider', 'acme', %L, %L)$$, '{"display_name": "A", "api": "openai", "default_model": "m"}', '{}')),
  'DEFINITION_CHANGED', 'a change of what somebody else has changed is refused'
);
select matches(
  pg_temp.problem('provider', 'bad', '{"display_name": "B", "api": "opneai", "default_model": "m"}'),
  'Cannot save the provider "bad": provider.api is not one of \["openai", "anthropic", "google"\]', 'an error names the field and the allowed values'
);
select matches(pg_temp.problem('provider', 'bad', '{"display_name": "B", "api": "openai", "default_model": "m", "base_url": "acme.test"}'), 'base_url is "acme.test"', 'an address is checked');
select matches(pg_temp.problem('provider', 'Not Good', '{"display_name": "B", "api": "openai", "default_model": "m"}'), 'name is "Not Good"', 'a name is checked');
select matches(
  pg_temp.problem('model', 'acme/m', '{"prices": [{"valid_from": "2026-02-30", "input_usd_per_mtok": 1, "output_usd_per_mtok": 1}]}'),
  'model.prices.valid_from is "2026-02-30"', 'a day is checked'
);
select matches(pg_temp.problem('model', 'acme/m', '{"prices": [{"valid_from": "2026-02-03", "input_usd_per_mtok": -1, "output_usd_per_mtok": 1}]}'), 'input_usd_per_mtok is outside', 'a price is checked');
select matches(pg_temp.problem('model', 'acmee/m', '{"prices": [{"valid_from": "2026-02-03", "input_usd_per_mtok": 1, "output_usd_per_mtok": 1}]}'), 'there is no provider "acmee"', 'the provider of a model is checked');
select matches(pg_temp.problem('model', 'acme', '{"prices": [{"valid_from": "2026-02-03", "input_usd_per_mtok": 1, "output_usd_per_mtok": 1}]}'), 'lacks the model', 'a model without a name is refused');
select matches(pg_temp.problem('policy', 'acme for nobody@example.test', '{}'), 'no account has the email', 'the account of a policy is checked');
select matches(pg_temp.problem('quota', 'everyone', '{"runing_tasks": 1}'), 'quota.runing_tasks', 'the name of a quota is checked');
select matches(pg_temp.problem('retention', 'project', '{"keep_jobs_days": 0}'), 'keep_jobs_days is outside', 'no setting deletes every job at once');
select matches(pg_temp.problem('retention', 'project', '{"keep_usage_days": 31}'), 'keep_usage_days is outside the limits of the schema: minimum 32', 'model calls stay as long as monthly caps count them');
select matches(pg_temp.stale_hint(), 'operator_settings', 'after a change by somebody else, the view of settings is named');
select matches(pg_temp.problem('documents', 'bad', '{"github_repo": "acme", "embedder": "space"}'), 'github_repo is "acme"', 'a repository is checked');
select matches(pg_temp.problem('documents', 'bad', '{"github_repo": "acme/x", "embedder": "nowhere"}'), 'documents.embedder is "nowhere"', 'an embedder is checked');
select matches(pg_temp.problem('limit', 'fils', '{}'), 'there is no tool "fils"', 'the server of a limit is checked');
select matches(pg_temp.problem('audience', 'agent/open', '{"accounts": []}'), 'no agent or tool has an audience', 'an audience that nobody reads is refused');
select matches(pg_temp.problem('audience', 'agent/closed', '{"accounts": ["nobody"]}'), 'no account has the email', 'the accounts of an audience are checked');
select matches(pg_temp.problem('server', 'bad', '{"config": {"mcp_url": "https://x.test", "headers": 3}}'), 'server.config.headers', 'the config of a server is checked');
select tests.act_as_nobody();
update public.tools set source = 'yaml' where slug = 'files';
insert into public.agents (name, slug, system_prompt, provider_id)
select 'user', 'acme-user', 'x', id from public.llm_providers where name = 'acme';
select tests.act_as_user('holder');
select matches(pg_temp.problem('server', 'files', null), 'comes from external-mcps.yaml', 'a server of the file is changed in the file');
select matches(pg_temp.problem('provider', 'acme', null), 'still referenced', 'a provider that an agent uses stays');
select is(pg_temp.save('provider', 'acme', pg_temp.document('provider', 'acme'), true) #> '{affected,used_by}', '["agent acme-user"]', 'a plan says who uses a provider');
select results_eq(
  $$select slug, pg_temp.save(kind, slug, null) -> 'after' from pg_temp.written where kind in ('limit', 'model', 'policy', 'quota', 'documents')$$,
  $$select slug, 'null'::jsonb from pg_temp.written where kind in ('limit', 'model', 'policy', 'quota', 'documents')$$, 'the others are removed'
);
select is(pg_temp.save('retention', 'project', null) -> 'after', '{}', 'retention returns to its defaults');
select tests.act_as_nobody();
select is(private.retention_days('keep_jobs_days'), 10, 'which apply');

select * from finish();
rollback;
