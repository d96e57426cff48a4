begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
create function pg_temp.code(p_numbers int) returns text language sql as $$
  select tests.code_of(format('select public.read_events((select id from made), %L)',
    '1.1.1' || repeat('.1', p_numbers)))
$$;

select tests.act_as_user('owner');
select is(pg_temp.code(1), 'none', 'a cursor has a number for each task');
select is(pg_temp.code(400000), 'QUERY_INVALID', 'one with more numbers than the job has tasks is not read');
select tests.act_as_nobody();

insert into public.tasks (id, master_task_id, parent_id, depth, agent_slug, input, created_by)
select private.new_id(), made.id, made.id, 1, 'worker-agent', '{}', job.created_by
from made join public.tasks as job on job.id = made.id, generate_series(1, 2000);
select tests.act_as_user('owner');
select is(pg_temp.code(2000), 'none', 'a large job has long cursors');
select is(pg_temp.code(400000), 'QUERY_INVALID', 'but none that is longer than its tasks need');
select tests.act_as_nobody();

select * from finish();
rollback;
