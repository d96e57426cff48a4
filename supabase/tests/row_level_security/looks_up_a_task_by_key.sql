begin;
set local search_path = public, extensions;
select plan(3);
select tests.create_task();
-- If the planner could read all tasks of the owner, that would be the cheaper plan here.
set local enable_indexscan = off;
set local enable_bitmapscan = off;
set local enable_indexonlyscan = off;

create function pg_temp.plan_of(p_table text) returns text language plpgsql as $$
declare
  v_line text;
  v_plan text := '';
begin
  for v_line in execute format('explain select * from public.%I', p_table) loop
    v_plan := v_plan || v_line;
  end loop;
  return v_plan;
end $$;
select tests.act_as_user('owner');
select unalike(pg_temp.plan_of('task_steps'), '%hashed%', 'reading steps does not start with all tasks of the reader');
select unalike(pg_temp.plan_of('task_events'), '%hashed%', 'reading events does not start with all tasks of the reader');
select unalike(pg_temp.plan_of('human_reviews'), '%hashed%', 'reading reviews does not start with all tasks of the reader');
select tests.act_as_nobody();
select * from finish();
rollback;
