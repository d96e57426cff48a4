begin;
set local search_path = public, extensions;
select plan(5);
create temp table family on commit drop as select tests.create_family(3) as id;
grant select on family to authenticated;
insert into public.task_steps (task_id, seq, kind, state, epoch)
select task.id, place, 'model', 'started', 1
from public.tasks as task, generate_series(20, 24) as place
where task.master_task_id = (select id from family);
select tests.create_family(2);

create temp table walked (task_id uuid, seq int, place int generated always as identity) on commit drop;
grant all on walked to authenticated;
select tests.act_as_user('owner');
create function pg_temp.walk(p_limit int) returns int language plpgsql as $$
declare
  v_step record;
  v_last jsonb;
  v_pages int := 0;
  v_count int := p_limit;
begin
  delete from walked where true;
  while v_count = p_limit loop
    v_count := 0;
    for v_step in select * from public.read_trace((select id from family), v_last, p_limit) loop
      insert into walked (task_id, seq) values (v_step.task_id, v_step.seq);
      v_last := to_jsonb(v_step);
      v_count := v_count + 1;
    end loop;
    v_pages := v_pages + 1;
  end loop;
  return v_pages;
end $$;
select ok(pg_temp.walk(7) > 3, 'a job is read in pages');
select results_eq(
  'select task_id, seq from walked order by place',
  'select step.task_id, step.seq from public.task_steps as step join public.tasks as task on task.id = step.task_id
    where task.master_task_id = (select id from family) order by step.task_id, step.seq',
  'the pages contain each step of each task once'
);
select pg_temp.walk(1);
select is(
  (select count(*) from walked),
  (select count(*) from public.read_trace((select id from family))),
  'pages of one row work too'
);
select is(
  tests.code_of(format('select * from public.read_trace(%L, ''{"seq": 1}'')', (select id from family))),
  'QUERY_INVALID', 'a page starts after a step, or at the first'
);
select is(
  tests.code_of(format('select * from public.read_trace(%L, null, 0)', (select id from family))),
  'QUERY_INVALID', 'a page has at least one row'
);
select tests.act_as_nobody();
select * from finish();
rollback;
