begin;
set local search_path = public, extensions;
select plan(16);

select tests.create_user('owner');
insert into public.webhooks (created_by, name, url, events) values
  (null, 'both', 'https://hooks.example/both', '{alert.raised,alert.cleared}'),
  (null, 'jobs', 'https://hooks.example/jobs', '{task.created}');
insert into public.webhooks (created_by, name, url, events, is_active) values
  (null, 'off', 'https://hooks.example/off', '{alert.raised}', false);
insert into public.alerts (name, measure, above) values ('dead', 'dead_letters', 1);
create temp table job on commit drop as select tests.create_task() as id;
create function pg_temp.set_dead_letters(p_count int) returns int language sql as $$
  delete from private.dead_letters;
  insert into private.dead_letters (task_id, reason, error)
  select id, 'attempts_exhausted', '{}' from job, generate_series(1, p_count);
  update public.alerts set checked_at = clock_timestamp() - interval '1 minute';
  select private.check_alerts();
$$;
create function pg_temp.messages() returns text language sql as $$
  select string_agg(message.type, ' ' order by message.created_at, message.id) from public.webhook_messages as message where message.task_id is null
$$;

select is(pg_temp.set_dead_letters(1), 0, 'a value at the limit raises nothing');
select is(pg_temp.set_dead_letters(2), 1, 'a value above the limit raises the alert');
select is(pg_temp.set_dead_letters(3), 0, 'it is raised once');
select results_eq(
  $$select webhook.name, message.type, message.payload - 'timestamp'
    from public.webhook_messages as message join public.webhooks as webhook on webhook.id = message.webhook_id
    where message.task_id is null$$,
  $$values ('both', 'alert.raised', jsonb_build_object('type', 'alert.raised', 'data',
    '{"alert": "dead", "measure": "dead_letters", "value": 2, "above": 1, "agent": null}'::jsonb))$$,
  'one message goes to the active webhook that wants it'
);
select is(pg_temp.set_dead_letters(0), 0, 'one check that is not above does not clear it');
select is(pg_temp.set_dead_letters(2), 0, 'a check above starts the count again');
select is(pg_temp.set_dead_letters(0), 0, 'so the next one does not clear it either');
select is((select below_since is not null and cleared_at is null from public.alerts), true, 'but it is known to recover');
update public.webhook_messages set run_after = now() + interval '1 hour' where type = 'alert.raised';
select is(pg_temp.set_dead_letters(0), 1, 'the second in a row does');
select is((select cleared_at = checked_at from public.alerts), true, 'and when it recovered is stored');
select is((select count(*)::int from public.webhook_messages where run_after is not null), 0,
  'a receiver that was down gets the earlier message now');
select is(pg_temp.messages(), 'alert.raised alert.cleared', 'each change is one message');
update public.alerts set checked_at = clock_timestamp() - interval '10 seconds';
insert into private.dead_letters (task_id, reason, error) select id, 'attempts_exhausted', '{}' from job, generate_series(1, 2);
select is(private.check_alerts(), 0, 'an alert is checked once a minute');

select pg_temp.set_dead_letters(2);
select is((select cleared_at from public.alerts), null, 'until it is raised again');
update public.alerts set is_active = false;
select is(pg_temp.messages(), 'alert.raised alert.cleared alert.raised alert.cleared', 'deactivating a raised alert clears it');
select is(private.check_alerts(), 0, 'an inactive alert is not checked');

select * from finish();
rollback;
