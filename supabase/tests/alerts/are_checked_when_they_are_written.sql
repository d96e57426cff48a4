begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_user('operator'), tests.create_user('owner');
select public.grant_scopes(tests.user_id('operator'), '{swarm:operate}');
create function pg_temp.code_of(p_definition jsonb) returns text language sql as $$
  select tests.code_of(format('select private.write_alert(%L, %L)', 'wrong', p_definition))
$$;
select is(pg_temp.code_of('{"measure": "fail_rate", "above": 1}'), 'ALERT_INVALID', 'the measure must be known');
select is(pg_temp.code_of('{"measure": "dead_letters"}'), 'ALERT_INVALID', 'a limit is required');
select is(pg_temp.code_of('{"measure": "failure_rate", "above": 20}'), 'ALERT_INVALID', 'a failure rate is a share');
select is(pg_temp.code_of('{"measure": "cost_usd", "above": 1, "minutes": 0}'), 'ALERT_INVALID', 'the window must not be empty');
select is(pg_temp.code_of('{"measure": "failure_rate", "above": 0, "at_least": 0}'), 'ALERT_INVALID', 'jobs are required');
select is(pg_temp.code_of('{"measure": "dead_letters", "above": 0, "agent": "x"}'), 'ALERT_INVALID', 'only some measures have an agent');
select is(pg_temp.code_of('{"measure": "cost_usd", "above": 1, "agent": "missing"}'), 'AGENT_NOT_FOUND', 'the agent must exist');

select tests.act_as_user('owner');
select is(tests.code_of($$insert into public.webhooks (url, events) values ('https://x.example', '{alert.raised}')$$),
  'WEBHOOK_INVALID', 'the webhooks of users receive no alerts');
select tests.act_as_nobody();
select private.write_alert('spend', '{"measure": "cost_usd", "above": 5}');
select tests.act_as_user('operator');
select results_eq('select name, above, minutes, raised_at from public.operator_alerts',
  $$values ('spend', 5::numeric, 60, null::timestamptz)$$, 'operators read the alerts');

select * from finish();
rollback;
