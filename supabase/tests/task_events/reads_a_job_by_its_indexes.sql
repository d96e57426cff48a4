begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_family(2) as id;
grant select on made to authenticated;
select tests.create_task(p_owner => 'stranger');
create function pg_temp.plan_of(p_condition text) returns text language plpgsql as $$
declare
  v_line text;
  v_plan text := '';
begin
  for v_line in execute format('explain (costs off) select * from public.task_events where %s = %L', p_condition, (select id from made)) loop
    v_plan := v_plan || v_line || chr(10);
  end loop;
  return v_plan;
end;
$$;
set local enable_seqscan = off;

select alike(pg_temp.plan_of('master_task_id'), '%(task_id = %', 'events of the job''s first task are found by its id');
select alike(pg_temp.plan_of('master_task_id'), '%(master_task_id = %', 'those of its subtasks by the job');
select unalike(pg_temp.plan_of('master_task_id'), '%Seq Scan%', 'no event of another job is read');
select results_eq(
  'select count(*) from public.task_events where master_task_id = (select id from made)',
  'select count(*) from private.task_events where master_task_id = (select id from made)',
  'a job has all its events once'
);
select tests.act_as_user('stranger');
select results_eq('select distinct type from public.task_events', $$values ('task.created')$$, 'a stranger sees events of their own tasks only');
select tests.act_as_nobody();

select * from finish();
rollback;
