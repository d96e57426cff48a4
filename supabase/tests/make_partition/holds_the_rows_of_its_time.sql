begin;
set local search_path = public, extensions;
select plan(9);

select is(private.make_partitions(), 0, 'the partitions of the next weeks exist');
select is(
  (select count(*)::int from pg_inherits where inhparent in ('private.task_events'::regclass, 'public.task_steps'::regclass)),
  8, 'there are three weeks and one default partition for each table'
);

create temp table made on commit drop as select tests.create_task() as id;
select is(
  (select tableoid::regclass::text from private.task_events where task_id = (select id from made)),
  'private.task_events_' || to_char(now() at time zone 'utc', 'IYYY"w"IW'),
  'an event is stored in the week in which its task was created'
);

select private.make_partition('task_events', 'week', '2030-01-02T03:04:05Z');
select is(
  obj_description('private.task_events_2030w01'::regclass),
  'Rows of private.task_events for tasks created in the week from 2029-12-31, UTC.',
  'a week begins on Monday'
);
select ok(
  (select relrowsecurity from pg_class where oid = 'private.task_events_2030w01'::regclass)
    and not has_table_privilege('authenticated', 'private.task_events_2030w01', 'select, insert, update, delete')
    and not has_table_privilege('service_role', 'private.task_events_2030w01', 'select, insert, update, delete'),
  'a partition cannot be used to bypass the policies'
);
select is(private.make_partition('task_events', 'week', '2030-01-06T23:59:59Z'), false, 'a partition is created once');

insert into public.tasks (id, master_task_id, agent_id, input)
select future.id, future.id, agent.id, '{}'
from (select private.first_id_of('2031-05-05T00:00:00Z') as id) as future, public.agents as agent
limit 1;
insert into private.task_events (task_id, master_task_id, type)
select id, id, 'task.created' from public.tasks where id = private.first_id_of('2031-05-05T00:00:00Z');
select is(
  (select tableoid::regclass::text from private.task_events where task_id = private.first_id_of('2031-05-05T00:00:00Z')),
  'private.task_events_other', 'a row without a partition is still written'
);
select is(private.make_partition('task_events', 'week', '2031-05-06T00:00:00Z'), false, 'a week with rows in the default partition is skipped');
select is(private.make_partition('task_events', 'week', '2031-05-13T00:00:00Z'), true, 'the next week is created');

select * from finish();
rollback;
