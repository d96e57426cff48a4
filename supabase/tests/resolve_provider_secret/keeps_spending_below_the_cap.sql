begin;
set local search_path = public, extensions;
select plan(13);

create temp table acme on commit drop as select tests.create_provider('acme', true) as id;
select tests.create_user('owner'), tests.create_user('other');
select vault.create_secret('organisation-key', 'ACME_KEY');
insert into model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok, valid_from)
select id, 'small', 1000000, 1000000, 1000000, now() - interval '1 year' from acme;
-- Recorded before the cap existed: 300 this month, and more in an earlier month.
insert into usage_events (provider_id, user_id, model, key_source, input_tokens, output_tokens, cost_micro_usd, created_at)
select id, tests.user_id('owner'), 'small', 'organisation', 1, 1, cost, at
from acme, (values (300, now()), (90000, now() - interval '40 days')) as booked (cost, at);
insert into model_policies (provider_id, spending_cap_micro_usd) select id, 1000 from acme;
-- Calls with the given tokens of each kind; a token costs one millionth of a dollar.
create function pg_temp.resolve(p_tokens int, p_user text default 'owner', p_model text default 'small') returns uuid language sql as $$
  select reservation_id from private.resolve_provider_secret(
    (select id from acme), tests.user_id(p_user), p_model, p_tokens / 2, p_tokens / 2)
$$;
create function pg_temp.book(p_reservation uuid, p_tokens int) returns void language sql as $$
  select private.record_usage(jsonb_build_object('provider_id', (select id from acme), 'user_id', tests.user_id('owner'),
    'model', 'small', 'key_source', 'organisation', 'input_tokens', p_tokens, 'reservation_id', p_reservation))
$$;

select is(tests.code_of($$select pg_temp.resolve(2, p_model => 'large')$$), 'PRICE_UNKNOWN', 'a model without a price is refused');
create temp table call on commit drop as select pg_temp.resolve(400) as id;
select isnt((select id from call), null, 'a call below the cap is reserved');
create temp table second on commit drop as select pg_temp.resolve(400, 'other') as id;
select isnt((select id from second), null, 'a call that might exceed the cap is reserved too');
select is(tests.code_of('select pg_temp.resolve(2)'), 'SPENDING_CAP_REACHED', 'reservations of every user count');
select pg_temp.book((select id from call), 100);
select is(tests.code_of('select pg_temp.resolve(500)'), 'none', 'the actual cost replaces the reservation');
select is(tests.code_of('select pg_temp.resolve(2)'), 'SPENDING_CAP_REACHED', 'the cap applies again');
select private.release_spending((select id from second));
select is(tests.code_of('select pg_temp.resolve(2)'), 'none', 'a call without an answer releases its reservation');
update private.model_reservations set expires_at = now() - interval '1 second';
select is(tests.code_of('select pg_temp.resolve(2)'), 'none', 'a reservation that is never settled expires');
select pg_temp.book(gen_random_uuid(), 700);
select is(tests.code_of('select pg_temp.resolve(2)'), 'SPENDING_CAP_REACHED', 'a late result still counts');
update private.model_spending set period_start = period_start - interval '1 month';
select is(tests.code_of('select pg_temp.resolve(2)'), 'none', 'the next month starts from zero');

insert into model_policies (provider_id, user_id) select id, tests.user_id('other') from acme;
update model_policies set spending_cap_micro_usd = 0 where user_id is null;
select is(tests.code_of('select pg_temp.resolve(2)'), 'SPENDING_CAP_REACHED', 'a cap of zero blocks every call');
select is(tests.code_of($$select pg_temp.resolve(2, 'other')$$), 'none', 'a user''s policy has its own cap, or none');
select tests.act_as_user('owner');
select public.set_provider_key('acme', 'own-key');
select tests.act_as_nobody();
select is(tests.code_of('select pg_temp.resolve(2)'), 'none', 'users with their own key have no cap');

select * from finish();
rollback;
