begin;
set local search_path = public, extensions;
select plan(9);

create temp table acme on commit drop as select tests.create_provider('acme', true) as id;
select tests.create_user('owner'), tests.create_user('other');
select vault.create_secret('organisation-key', 'ACME_KEY');
create function pg_temp.outcome(p_user text, p_model text) returns text language plpgsql as $$
declare v_detail text;
begin
  return (select key_source from private.resolve_provider_secret((select id from acme), tests.user_id(p_user), p_model));
exception when others then
  get stacked diagnostics v_detail = pg_exception_detail;
  return v_detail;
end $$;

select is(pg_temp.outcome('owner', 'small'), 'organisation', 'without a policy everything is allowed');

insert into model_policies (provider_id, is_allowed) select id, false from acme;
select is(pg_temp.outcome('owner', 'small'), 'MODEL_POLICY_DENIED', 'a policy can forbid a provider for everyone');
insert into model_policies (provider_id, model, is_allowed) select id, 'small', true from acme;
select is(pg_temp.outcome('owner', 'small'), 'organisation', 'a policy for the model takes precedence over that of the provider');
select is(pg_temp.outcome('owner', 'large'), 'MODEL_POLICY_DENIED', 'it applies only to that model');
insert into model_policies (provider_id, user_id, is_allowed) select id, tests.user_id('owner'), false from acme;
select is(pg_temp.outcome('owner', 'small'), 'MODEL_POLICY_DENIED', 'a user''s policy takes precedence over everyone''s, even over one for the model');
select is(pg_temp.outcome('other', 'small'), 'organisation', 'it applies only to that user');
insert into model_policies (provider_id, user_id, model, allow_organisation_key)
select id, tests.user_id('owner'), 'small', false from acme;
select is(pg_temp.outcome('owner', 'small'), 'MODEL_KEY_MISSING', 'without the organization''s key the user needs a key');
select tests.act_as_user('owner');
select public.set_provider_key('acme', 'own-key');
select tests.act_as_nobody();
select is(pg_temp.outcome('owner', 'small'), 'user', 'the user''s own key is used');
update model_policies set allow_own_key = false where user_id = tests.user_id('owner') and model = 'small';
select is(pg_temp.outcome('owner', 'small'), 'MODEL_KEY_MISSING', 'a policy can forbid that too');

select * from finish();
rollback;
