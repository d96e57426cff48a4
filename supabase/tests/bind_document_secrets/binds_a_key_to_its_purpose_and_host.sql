begin;
set local search_path = public, extensions;
select plan(31);
select tests.create_user(name) from unnest(array['holder', 'other']) as name;
select public.grant_scopes(tests.user_id(name), '{swarm:operate, swarm:configure}') from unnest(array['holder', 'other']) as name;

create function pg_temp.tool(p_host text, p_secret text) returns jsonb language sql as $$
  select jsonb_build_object('type', 'http_api',
    'config', jsonb_build_object('url', format('https://%s/path', p_host), 'method', 'GET', 'parameters', '{"type": "object"}'::jsonb),
    'credential', jsonb_build_object('secret', p_secret, 'type', 'bearer_token'))
$$;
create function pg_temp.save(p_slug text, p_host text, p_secret text) returns text language sql as $$
  select tests.code_of(format('select public.operator_save_definition(%L, %L, %L, %L)', 'tool', p_slug, pg_temp.tool(p_host, p_secret),
    (select definition from public.operator_definitions where kind = 'tool' and slug = p_slug)))
$$;
create function pg_temp.set(p_name text, p_secret text) returns text language sql as $$
  select tests.code_of(format('select public.operator_set_secret(%L, %L)', p_name, p_secret))
$$;
create function pg_temp.value(p_slug text) returns text language sql as $$
  select private.resolve_tool_secret(id, null) from public.tools where slug = p_slug
$$;
create function pg_temp.code(p_slug text) returns text language sql as $$
  select tests.code_of(format('select private.resolve_tool_secret(%L, null)', id)) from public.tools where slug = p_slug
$$;

-- Of another program, or stored by who may read Vault; a documents project makes it a key that the project uses.
select vault.create_secret('of GitHub', 'GITHUB_TOKEN');
select vault.create_secret('bound by SQL', 'SQL_KEY');
insert into public.projects (slug, github_repo) values ('manual', 'example/manual');
insert into public.tools (slug, name, type, config, credential_type, credential_secret_name)
values ('by-sql', 'by-sql', 'http_api', '{"url": "https://api.example.test/a", "method": "GET", "parameters": {"type": "object"}}', 'bearer_token', 'SQL_KEY');

select tests.act_as_user('holder');
select is(pg_temp.save('thief', 'thief.test', 'GITHUB_TOKEN'), 'SECRET_INVALID', 'a key of documents is not sent anywhere else');
select is(pg_temp.save('thief', 'api.github.com', 'GITHUB_TOKEN'), 'SECRET_INVALID', 'nor used for another purpose at the same host');
select is(pg_temp.save('thief', 'thief.test', 'SQL_KEY'), 'SECRET_INVALID', 'a key of one host is not sent to another');
select is(pg_temp.save('thief', 'thief.test', 'ＳＱＬ_key '), 'SECRET_INVALID', 'however its name is written');
select is(pg_temp.save('by-sql', 'thief.test', 'SQL_KEY'), 'SECRET_INVALID', 'also not by moving what uses it');
select is(pg_temp.save('friend', 'api.example.test', 'sql_KEY'), 'SECRET_INVALID', 'nor does another name mean the same key');
select is(pg_temp.save('friend', 'api.example.test', 'SQL_KEY'), 'none', 'another tool of the same host may use it');
select results_eq(
  $$select used_by, sent_to from public.operator_secrets where name = 'SQL_KEY'$$,
  $$values ('{"tool by-sql","tool friend"}'::text[], '{api.example.test}'::text[])$$, 'the list shows the purpose and the host');

-- A name that does not exist yet.
select is(pg_temp.save('early', 'thief.test', 'LATER_KEY'), 'none', 'a tool may name a key that is set later');
select tests.act_as_nobody();
select vault.create_secret('of another program', 'LATER_KEY');
select is(pg_temp.code('early'), 'SECRET_NOT_FOUND', 'it does not receive what another program stores under that name');
select matches((select problem from public.operator_configuration_problems where name = 'early'), 'nobody has given', 'which is a problem of the configuration');
select tests.act_as_user('holder');
select is(pg_temp.save('early', 'thief.test', 'LATER_KEY'), 'SECRET_INVALID', 'nor after it is saved again');
select is(pg_temp.save('second', 'thief.test', 'LATER_KEY'), 'SECRET_INVALID', 'nor does a second tool');
select is(tests.code_of($$select public.operator_set_secret('LATER_KEY', 'mine')$$), 'SECRET_INVALID', 'and the key is not replaced');
select tests.act_as_nobody();
select private.bind_secret('LATER_KEY');
select is(pg_temp.value('early'), 'of another program', 'who may read Vault binds it');

-- A key that a person stores.
select tests.act_as_user('holder');
select is(pg_temp.save('own', 'own.test', 'OWN_KEY'), 'none', 'a tool waits for its key');
select public.operator_set_secret('OWN_KEY', 'sk-own');
select is(pg_temp.save('own-2', 'second.test', 'OWN_KEY'), 'none', 'who has stored a value may send it anywhere');
select tests.act_as_nobody();
select is(pg_temp.value('own'), 'sk-own', 'storing it gives it to the tools that wait');
select tests.act_as_user('other');
select is(pg_temp.save('thief', 'thief.test', 'OWN_KEY'), 'SECRET_INVALID', 'others do not send it to a new host');
select is(pg_temp.save('mirror', 'own.test', 'OWN_KEY'), 'none', 'but use it where it is sent already');
select tests.act_as_user('holder');
select public.operator_set_secret('OWN_KEY', null);
select tests.act_as_nobody();
select vault.create_secret('of another program', 'OWN_KEY');
select is(pg_temp.code('own'), 'SECRET_NOT_FOUND', 'after a key was removed, another program''s value is not sent');
select tests.act_as_user('holder');
select is(pg_temp.save('thief', 'thief.test', 'OWN_KEY'), 'SECRET_INVALID', 'not by who had stored the one before');
select is(pg_temp.set('OWN_KEY', 'mine'), 'SECRET_INVALID', 'who does not replace it either');
select tests.act_as_nobody();

-- What one person sends where they want; operator_secrets shows it to the one who rotates the key.
select tests.act_as_user('holder');
select public.operator_set_secret('TEAM_KEY', 'of the holder');
select pg_temp.save('wide', 'thief.test', 'TEAM_KEY');
select tests.act_as_user('other');
select is(pg_temp.save('beside', 'thief.test', 'TEAM_KEY'), 'none', 'a second tool sends it to the same host');
select results_eq($$select used_by, sent_to from public.operator_secrets where name = 'TEAM_KEY'$$,
  $$values (array['tool beside', 'tool wide'], array['thief.test'])$$, 'everybody who may rotate it sees where it is sent');
select is(pg_temp.set('TEAM_KEY', 'of the other'), 'none', 'another person rotates it');
select is(pg_temp.save('third', 'third.test', 'TEAM_KEY'), 'none', 'and may send it anywhere');
select tests.act_as_nobody();
select is(pg_temp.value('wide') || ', ' || pg_temp.value('beside') || ', ' || pg_temp.value('third'),
  'of the other, of the other, of the other', 'what named it goes on with the new value');
select tests.act_as_user('holder');
select is(pg_temp.save('wide', 'elsewhere.test', 'TEAM_KEY'), 'SECRET_INVALID', 'the first person does not move it');
select tests.act_as_nobody();
-- All times of this transaction are the same.
update private.awaited_secrets set given_at = given_at - interval '1 second' where name = 'TEAM_KEY';
select vault.update_secret((select id from vault.secrets where name = 'TEAM_KEY'), 'of another program');
select is(pg_temp.code('beside'), 'SECRET_NOT_FOUND', 'nothing gets the value with which another program replaced it');
select private.bind_secret('TEAM_KEY');
select is(pg_temp.value('beside'), 'of another program', 'until who may read Vault binds it');

select * from finish();
rollback;
