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
  'the version that was read is followed by the next');
select is(
  private.save_ruleset((select id from made), null, '{"tone": "cold"}', 1),
  '{"outcome": "conflict", "current_version": 2}'::jsonb, 'an older one is a conflict, which names the newest');
select is(
  private.save_ruleset((select id from made), 'Style', '{"tone": "kind"}', null) ->> 'version', '3',
  'without a version every save counts');
select results_eq(
  'select version, name, content from ruleset_versions order by version',
  $$values (1, 'House style', '{"tone": "calm"}'::jsonb), (2, 'House style', '{"tone": "warm"}'), (3, 'Style', '{"tone": "kind"}')$$,
  'every version is kept, with its name');

select tests.act_as_user('stranger');
select is(
  private.save_ruleset((select id from made), null, '{}', null) ->> 'outcome', 'not_found',
  'a stranger''s ruleset is none');
select is_empty('select from rulesets', 'and is not read');
select is_empty('select from ruleset_versions', 'nor are its versions');
select tests.act_as_nobody();
select is(
  tests.code_of($$update ruleset_versions set content = '{}'$$), 'RULESET_VERSION_CONFLICT',
  'nobody changes a version');
delete from auth.users where id = tests.user_id('owner');
select is_empty('select from ruleset_versions', 'they go with their owner');

select * from finish();
rollback;
