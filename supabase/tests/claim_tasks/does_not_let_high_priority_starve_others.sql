begin;
set local search_path = public, extensions;
select plan(3);

select tests.create_task(p_owner => 'loud', p_priority => 'high') from generate_series(1, 120);
select tests.create_task(p_owner => 'loud') from generate_series(1, 10);
select tests.create_task(p_owner => 'quiet', p_priority => priority)
from unnest(array['low', 'normal', 'low', 'high']) as priority;

create function pg_temp.claim(p_limit int) returns table (owner uuid, priority text) language sql as $$
  select task.created_by, task.priority
  from private.claim_tasks('w1', p_limit, 30) with ordinality as claim (task_id, epoch, context, n)
  join public.tasks as task on task.id = claim.task_id
  order by claim.n
$$;
create temp table claimed on commit drop as select * from pg_temp.claim(4);
select results_eq(
  'select owner = tests.user_id($$loud$$), count(*)::int from claimed group by 1 order by 1',
  'values (false, 2), (true, 2)',
  'owners take turns, regardless of the priority of their tasks'
);
select bag_eq(
  'select priority from claimed where owner = tests.user_id($$quiet$$)', array['high', 'normal'],
  'each owner''s tasks are claimed by priority'
);

-- One slot, so that nothing else runs during the next turn.
create function pg_temp.turns_until_empty(p_name text) returns int language plpgsql as $$
declare
  v_count int := 0;
begin
  perform private.finish_tasks(jsonb_agg(jsonb_build_object('id', id, 'held_epoch', epoch)))
  from public.tasks where status = 'running';
  while exists (select from public.tasks where created_by = tests.user_id(p_name) and status = 'pending') loop
    perform private.finish_task(claim.task_id, claim.epoch, '{}') from private.claim_tasks('w1', 1, 30) as claim;
    v_count := v_count + 1;
  end loop;
  return v_count;
end $$;
select cmp_ok(pg_temp.turns_until_empty('quiet'), '<=', 100, 'at equal load, low-priority tasks still get a turn');
select * from finish();
rollback;
