begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as id;
create temp table pauses (attempt int, seconds numeric) on commit drop;
create temp table ends (claims int, status text, minutes numeric) on commit drop;

-- The test moves the first failure back instead of waiting; its own running time counts too.
do $$
declare
  v_id uuid := (select id from made);
  v_pause numeric;
  v_failed record;
begin
  for v_attempt in 1..60 loop
    update public.tasks set run_after = null where id = v_id;
    select * into v_failed from private.fail_task(
      v_id, tests.claim(v_id), '{"code": "MODEL_UNAVAILABLE", "message": "HTTP 500"}', 'outage');
    if v_failed.status <> 'pending' then
      insert into ends
      select v_attempt, v_failed.status, extract(epoch from clock_timestamp() - failing_since) / 60
      from public.tasks where id = v_id;
      return;
    end if;
    v_pause := extract(epoch from v_failed.retry_at - clock_timestamp());
    insert into pauses values (v_attempt, v_pause);
    update public.tasks set failing_since = failing_since - make_interval(secs => v_pause::double precision)
    where id = v_id;
  end loop;
end;
$$;

select is((select status from ends), 'failed', 'the task fails in the end');
select cmp_ok((select minutes from ends), '>=', 10.0, 'it fails after ten minutes');
select cmp_ok((select minutes from ends), '<', 20.0, 'it fails within twenty minutes');
select ok(
  (select bool_and(seconds >= before - 0.5) from (
    select seconds, attempt, lag(seconds) over (order by attempt) as before from pauses
  ) as paused where attempt between 2 and 8),
  'each pause is longer than the previous one, up to the maximum'
);
select is((select count(*) from private.dead_letters), 1::bigint, 'a dead letter is written');

select is(
  (select count(*) from public.tasks where private.has_spent_attempts(
    jsonb_populate_record(tasks, '{"attempts": 1, "max_attempts": 2, "failing_since": null}'), 'outage')),
  1::bigint, 'a task with its own max_attempts gets no more than those'
);

select * from finish();
rollback;
