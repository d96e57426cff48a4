begin;
set local search_path = public, extensions;
select plan(7);

create temp view login as select * from pg_roles where rolname = private.caller_login_name();

select is((select array[rolcanlogin, rolinherit, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication] from login),
  '{t,f,f,f,f,f,f}', 'the role logs in and has no privileges of its own');
select set_eq($$
  select held.rolname from pg_auth_members as membership
  join login on login.oid = membership.member
  join pg_roles as held on held.oid = membership.roleid
$$, array['authenticated'], 'it can assume only the role authenticated');
select ok(length(private.secret_value('supaswarm_caller_password')) = 64, 'its password is stored in Vault');
select ok(not has_function_privilege('authenticated', 'private.caller_login()', 'execute')
  and not has_function_privilege('service_role', 'private.caller_login()', 'execute'), 'no API role can read it');

create temp table before on commit drop as select private.secret_value('supaswarm_caller_password') as password;
select private.renew_caller_login();
select isnt(private.secret_value('supaswarm_caller_password'), (select password from before), 'a renewed password is different');
select is((select count(*)::int from vault.secrets where name = 'supaswarm_caller_password'), 1, 'the renewed password replaces the first one');
select is((select pg_get_userbyid(proowner)::text from pg_proc where oid = 'private.call_as_caller(text, jsonb)'::regprocedure),
  'authenticated', 'the function that runs statements for callers belongs to their role');

select * from finish();
rollback;
