begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_user('owner'), tests.create_user('stranger');
create temp table made (id uuid) on commit drop;
grant all on made to authenticated;
select tests.act_as_user('owner');
insert into made select (private.save_ruleset(null, 'House style', '{"tone": "calm"}', null) ->> 'id')::uuid;

select is(
  private.save_ruleset((select id from made), null, '{"tone": "warm"}', 1) ->> 'version', '2',
  'a save of the current version creates the next one');
select is(
  private.save_ruleset((select id from made), null, '{"tone": "cold"}', 1),
  '{"outcome": "conflict", "current_version": 2}'::jsonb, 'a save of an older version is a conflict that names the newest');
select is(
  private.save_ruleset((select id from made), 'Style', '{"tone": "kind"}', null) ->> 'version', '3',
  'a save without a version always succeeds');
select results_eq(
  'select version, name, content from ruleset_versions order by version',
  $$values (1, 'House style', '{"tone": "calm"}'::jsonb), (2, 'House style', '{"tone": "warm"}'), (3, 'Style', '{"tone": "kind"}')$$,
  'every version is kept with its name');

select tests.act_as_user('stranger');
select is(
  private.save_ruleset((select id from made), null, '{}', null) ->> 'outcome', 'not_found',
  'another user''s ruleset is not found');
select is_empty('select from rulesets', 'another user''s ruleset is not visible');
select is_empty('select from ruleset_versions', 'another user''s versions are not found');
select tests.act_as_nobody();
select is(
  tests.code_of($$update ruleset_versions set content = '{}'$$), 'RULESET_VERSION_CONFLICT',
  'nobody can change a version');
delete from auth.users where id = tests.user_id('owner');
select is_empty('select from ruleset_versions', 'versions are deleted with their owner');

select * from finish();
rollback;
