begin;
set local search_path = public, extensions;
select plan(11);

create function pg_temp.value_of(p_alert text) returns numeric language sql as $$
  update public.alerts set checked_at = null where name = p_alert;
  select private.check_alerts();
  select value from public.alerts where name = p_alert;
$$;
select tests.create_agent('other-agent'), tests.create_agent('worker-agent');
insert into public.alerts (name, measure, above, at_least, agent) values
  ('failing', 'failure_rate', 0.5, 4, null), ('failing worker', 'failure_rate', 0.5, 3, 'worker-agent'),
  ('expensive', 'cost_usd', 5, 10, null), ('expensive worker', 'cost_usd', 5, 10, 'worker-agent'),
  ('waiting', 'oldest_waiting_seconds', 60, 10, null), ('retrying', 'failing_seconds', 60, 10, null),
  ('dead', 'dead_letters', 0, 10, null),
  ('late', 'late_cron_seconds', 120, 10, null);

create temp table job on commit drop as select place, tests.create_task() as id from generate_series(1, 8) as place;
update public.tasks as task
set status = case when place in (1, 2) then 'failed' when place = 7 then 'cancelled' else 'completed' end,
  agent_slug = case when place in (2, 3) then 'other-agent' else 'worker-agent' end,
  is_kept = place = 2, error = '{"code": "LATE"}',
  finished_at = clock_timestamp() - case when place = 6 then interval '61 minutes' else interval '1 minute' end
from job where job.id = task.id and place < 8;
select is(pg_temp.value_of('failing'), 0.4, 'two of five jobs failed; cancelled and older jobs do not count');
select is(pg_temp.value_of('failing worker'), 0.3333, 'one of three jobs of the agent failed');
update public.alerts set at_least = 6 where name = 'failing';
select is(pg_temp.value_of('failing'), null, 'five jobs are too few to measure');

insert into public.usage_events (agent_slug, model, key_source, input_tokens, output_tokens, cost_micro_usd, created_at) values
  ('worker-agent', 'm', 'none', 1, 1, 1250000, now()), ('other-agent', 'm', 'none', 1, 1, 500000, now()),
  ('worker-agent', 'm', 'none', 1, 1, null, now()), ('worker-agent', 'm', 'none', 1, 1, 9000000, now() - interval '2 hours');
select is(pg_temp.value_of('expensive'), 1.75, 'the calls of the window have cost 1.75 dollars');
select is(pg_temp.value_of('expensive worker'), 1.25, 'of which the agent''s cost 1.25');

update public.tasks set run_after = clock_timestamp() + interval '1 hour' where id = (select id from job where place = 8);
select is(pg_temp.value_of('waiting'), 0::numeric, 'a task that is not due does not wait');
update public.tasks set run_after = clock_timestamp() - interval '10 minutes' where id = (select id from job where place = 8);
select cmp_ok(pg_temp.value_of('waiting'), '>=', 600::numeric, 'a due task waits since its time');

update public.tasks set failing_since = clock_timestamp() - interval '1 hour' where id = (select id from job where place = 1);
select is(pg_temp.value_of('retrying'), 0::numeric, 'a task that has failed is not tried again');
update public.tasks set failing_since = clock_timestamp() - interval '5 minutes', run_after = clock_timestamp() + interval '1 minute'
where id = (select id from job where place = 8);
select cmp_ok(pg_temp.value_of('retrying'), '>=', 300::numeric, 'a step fails since its first try');

insert into private.dead_letters (task_id, reason, error, created_at, retried_at)
select id, 'attempts_exhausted', '{}', now() - case place when 2 then interval '61 minutes' else interval '0' end,
  case place when 3 then now() end
from job where place <= 3;
select is(pg_temp.value_of('dead'), 1::numeric, 'a dead letter that was retried does not count, nor one before the window');

insert into public.schedules (created_by, name, agent, input, cron) values (null, 'daily', 'worker-agent', '"Go"', '@daily');
update public.schedules set next_run_at = clock_timestamp() - interval '10 minutes' where name = 'daily';
select cmp_ok(pg_temp.value_of('late'), '>=', 600::numeric, 'the most overdue schedule counts');

select * from finish();
rollback;
