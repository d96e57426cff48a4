begin;
set local search_path = public, extensions;
select plan(24);

select tests.create_row_trigger();
create table public.keyless (id int);
create view public.order_view as select * from public.orders;
create schema shop;
create table shop."Odd ""name" (id int primary key, "user" uuid);
create function pg_temp.code_of(p_changes jsonb) returns text language sql as $$
  select tests.code_of(format('select tests.create_row_trigger(%L, ''wrong'')', p_changes))
$$;
select is(pg_temp.code_of('{"agent": "missing"}'), 'AGENT_NOT_FOUND', 'the agent must exist');
select is(pg_temp.code_of('{"table": "missing"}'), 'TRIGGER_INVALID', 'the table must exist');
select is(pg_temp.code_of('{"table": "keyless"}'), 'TRIGGER_INVALID', 'with a primary key');
select is(pg_temp.code_of('{"table": "order_view"}'), 'TRIGGER_INVALID', 'and be no view');
select is(pg_temp.code_of(jsonb_build_object('table', name)), 'TRIGGER_INVALID', name || ' is not a table of the project')
from unnest(array['tasks', 'row_triggers', 'private.settings', 'auth.users', 'storage.objects', 'cron.job', 'vault.secrets', 'pg_catalog.pg_class']) as name;
select is(pg_temp.code_of('{"events": ["truncate"]}'), 'TRIGGER_INVALID', 'events are known');
select is(pg_temp.code_of('{"conditions": [{"column": "stat", "op": "eq", "value": 1}]}'), 'TRIGGER_INVALID', 'columns exist');
select is(pg_temp.code_of('{"conditions": [{"column": "status", "op": "like", "value": "a"}]}'), 'TRIGGER_INVALID', 'operators are known');
select is(pg_temp.code_of('{"conditions": [{"column": "total", "op": "gt", "value": "many"}]}'), 'TRIGGER_INVALID', 'values have the type of their column');
select is(pg_temp.code_of('{"conditions": [{"column": "total", "op": "eq"}]}'), 'TRIGGER_INVALID', 'a value is there');
select is(pg_temp.code_of('{"conditions": ["status = 1"]}'), 'TRIGGER_INVALID', 'a condition is no SQL');
select is(pg_temp.code_of('{"columns": ["status"], "events": ["insert"]}'), 'TRIGGER_INVALID', 'columns need an update');
select is(pg_temp.code_of('{"owner_column": "status"}'), 'TRIGGER_INVALID', 'an owner is an id');
select is(pg_temp.code_of('{"starts_per": "statement", "debounce_seconds": 5}'), 'TRIGGER_INVALID', 'a whole statement has no key to wait for');
select is(pg_temp.code_of('{"table": "shop.Odd \"name", "owner_column": "user", "input": {"it''s": "id"}}'), 'none', 'names are taken as they are');

create function pg_temp.save(p_table text) returns text language sql as $$
  select tests.code_of(format('select public.operator_save_definition(''trigger'', ''api'', %L)',
    jsonb_build_object('table', p_table, 'events', '["insert"]'::jsonb, 'agent', 'worker-agent')))
$$;
select tests.create_user('owner'), tests.create_user('configurer'), public.grant_scopes(tests.user_id('configurer'), '{swarm:configure}');
select tests.act_as_user('owner');
select is(pg_temp.save('orders'), 'INSUFFICIENT_SCOPE', 'people need swarm:configure');
select tests.act_as_user('configurer');
select is(pg_temp.save('shop.Odd "name') || ' ' || pg_temp.save('orders'), 'TRIGGER_INVALID none', 'over the API, only tables of the default schema');

select * from finish();
rollback;
