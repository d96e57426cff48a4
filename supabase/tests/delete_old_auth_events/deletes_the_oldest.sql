begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user('owner');
insert into public.auth_events (user_id, event, created_at)
select tests.user_id('owner'), 'SIGNED_IN', now() - make_interval(days => days)
from unnest(array[1, 20, 89, 91, 92, 93]) as days;

select is(private.delete_old_auth_events(1), 1, 'no more than the requested number is deleted');
select is((select max(now() - created_at) from public.auth_events), interval '92 days', 'the oldest are deleted first');
select is(private.delete_old_auth_events(10), 2, 'without a setting events older than 90 days are deleted');
select is((select count(*) from public.auth_events), 3::bigint, 'more recent events are kept');
insert into private.settings (key, value) values ('keep_auth_events_days', '7');
select is(private.delete_old_auth_events(10), 2, 'the setting replaces the default');
select is(private.delete_old_auth_events(10), 0, 'nothing else is deleted');

select * from finish();
rollback;
