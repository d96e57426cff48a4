begin;
set local search_path = public, extensions;
select plan(3);
select tests.create_task();
-- Were reading all tasks of the owner a choice, it would be the cheaper one now.
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
select unalike(pg_temp.plan_of('task_steps'), '%hashed%', 'reading steps does not begin with all tasks of the reader');
select unalike(pg_temp.plan_of('task_events'), '%hashed%', 'nor does reading events');
select unalike(pg_temp.plan_of('human_reviews'), '%hashed%', 'nor does reading reviews');
select tests.act_as_nobody();
select * from finish();
rollback;
