begin;
set local search_path = public, extensions;
select plan(5);

select tests.create_user('reader'), tests.create_user('admin');
insert into mcp_grants (user_id, client_id, scopes) values
  (tests.user_id('admin'), null, '{admin:*}'), (tests.user_id('admin'), 'editor', '{ruleset:write}');
create temp table made (id uuid) on commit drop;
grant all on made to authenticated, service_role;
select tests.act_as_service();
insert into made select (private.save_ruleset(null, 'Shared', '{"tone": "calm"}', null) ->> 'id')::uuid;

select tests.act_as_user('reader');
select is((select name from rulesets), 'Shared', 'everyone can read a shared ruleset');
select is(
  private.save_ruleset((select id from made), null, '{}', null) ->> 'outcome', 'forbidden',
  'the default scopes do not allow saving it');
select tests.act_as_user('admin');
select is(private.save_ruleset((select id from made), null, '{}', null) ->> 'version', '2', 'admin:* allows saving it');
select is((select owner from rulesets), null, 'it stays shared');
select set_config('request.jwt.claims', jsonb_build_object(
  'sub', tests.user_id('admin'), 'role', 'authenticated', 'client_id', 'editor')::text, true);
select is(
  private.save_ruleset((select id from made), null, '{}', null) ->> 'outcome', 'forbidden',
  'an OAuth client needs the scope itself');

select * from finish();
rollback;
