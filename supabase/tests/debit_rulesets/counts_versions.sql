begin;
set local search_path = public, extensions;
select plan(5);

select tests.create_user('owner');
update private.quotas set amount = 500 where name = 'ruleset_bytes';
create function pg_temp.save(p_owner uuid, p_text text) returns text language plpgsql as $$
declare
  v_id uuid;
begin
  insert into public.rulesets (owner, name) values (p_owner, 'r') returning id into v_id;
  return tests.code_of(format('insert into public.ruleset_versions (ruleset_id, version, name, content) values (%L, 1, %L, %L)',
    v_id, 'r', jsonb_build_object('t', p_text)));
end $$;
create function pg_temp.used() returns bigint language sql as $$
  select private.stored_use('ruleset_bytes', tests.user_id('owner'))
$$;

select pg_temp.save(tests.user_id('owner'), repeat('x', 91));
select is(pg_temp.used(), 300::bigint, 'a version counts with its content');
select is(pg_temp.save(tests.user_id('owner'), 'x'), 'QUOTA_EXCEEDED', 'a version that exceeds the quota is refused');
select isnt(pg_temp.save(null, repeat('x', 1000)), 'QUOTA_EXCEEDED', 'shared rulesets are the service''s');
delete from public.rulesets where owner is not null;
select is(pg_temp.used(), 0::bigint, 'a deleted ruleset no longer counts');
select isnt(pg_temp.save(tests.user_id('owner'), 'x'), 'QUOTA_EXCEEDED', 'which makes room for the next');

select * from finish();
rollback;
