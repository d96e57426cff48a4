begin;
set local search_path = public, extensions;
select plan(4);

update private.quotas set amount = null where name = 'running_tasks';
create temp table made on commit drop as select tests.create_task() as id, n from generate_series(1, 40) as n;
select count(*) from private.claim_tasks('w1', 50, 30);
update public.tasks set rate_limit_waits = 99 where id in (select id from made where n > 20);

create temp table pause on commit drop as
  select made.n > 20 as is_late, extract(epoch from failed.retry_at - clock_timestamp()) as seconds
  from made
  cross join lateral private.fail_task(
    made.id, tests.epoch_of(made.id), '{"code": "MODEL_RATE_LIMITED", "message": "slow"}', 'rate_limited'
  ) as failed;

select ok((select max(seconds) <= 2 from pause where not is_late), 'the first pause is short');
select ok((select max(seconds) between 60 and 300 from pause where is_late), 'the hundredth pause takes minutes, at most five');
select is((select sum(attempts) from public.tasks)::int, 0, 'no pause counts as an attempt');

update public.tasks set run_after = null where id = (select id from made where n = 40);
select tests.claim((select id from made where n = 40));
select private.fail_task(
  (select id from made where n = 40), tests.epoch_of((select id from made where n = 40)), '{"code": "MODEL_RATE_LIMITED", "message": "slow"}', 'rate_limited'
);
select is((select attempts from public.tasks where id = (select id from made where n = 40)), 1, 'the next failure counts');

select * from finish();
rollback;
