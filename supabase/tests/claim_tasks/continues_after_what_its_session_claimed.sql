begin;
set local search_path = public, extensions;
select plan(4);

create temp table line on commit drop as select n, tests.create_task(p_owner => 'ada') as id from generate_series(1, 6) as n;
create function pg_temp.claim(p_limit int) returns setof int language sql as $$
  select line.n
  from private.claim_tasks('w1', p_limit, 30) with ordinality as claim (task_id, epoch, context, place)
  join line on line.id = claim.task_id
  order by claim.place
$$;

update public.tasks set run_after = clock_timestamp() + interval '1 hour' where id = (select id from line where n = 1);
select results_eq('select pg_temp.claim(1)', array[2], 'the first due task of the line is claimed');

update public.tasks set run_after = null where id = (select id from line where n = 1);
select results_eq('select pg_temp.claim(2)', array[3, 4], 'a full claim continues where the one before ended');

select set_config('supaswarm.claimed_until', regexp_replace(current_setting('supaswarm.claimed_until'), '\S+$', '0'), false);
select results_eq('select pg_temp.claim(1)', array[1], 'after some seconds, the line is read from its beginning');

update public.tasks set run_after = clock_timestamp() + interval '1 hour' where id = (select id from line where n = 5);
select pg_temp.claim(1);
update public.tasks set run_after = null where id = (select id from line where n = 5);
select results_eq('select pg_temp.claim(2)', array[5], 'a claim that would not be full reads the line from its beginning');

select * from finish();
rollback;
