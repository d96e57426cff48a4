begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
-- 50 KB of text that does not compress.
insert into public.task_steps (task_id, seq, kind, state, output, epoch, started_at, ended_at)
select made.id, 1, 'model', 'done', jsonb_build_object('text', (
  select string_agg(md5(random()::text), '') from generate_series(1, 1600)
)), 0, now(), now()
from made;
update private.quotas set amount = 130000 where name = 'trace_bytes';

create function pg_temp.forks(p_count int) returns text language sql as $$
  select string_agg(tests.code_of(format(
    'select public.fork_task((select id from made), 2, %L)', jsonb_build_object('input', 'Go on'))), ' ')
  from generate_series(1, p_count)
$$;

select tests.act_as_user('owner');
select is(pg_temp.forks(5), 'none none QUOTA_EXCEEDED QUOTA_EXCEEDED QUOTA_EXCEEDED', 'as many forks at once as there is room for');
select is((select used_bytes between 100000 and 130000 from public.storage_use() where name = 'trace_bytes'), true, 'their bytes count at once');
select tests.act_as_nobody();
select is((select count(*)::int from private.task_forks), 2, 'refused forks leave nothing');

delete from public.tasks where id in (select fork_id from private.task_forks limit 1);
select tests.act_as_user('owner');
select is(pg_temp.forks(1), 'none', 'a deleted fork makes room for another');
select tests.act_as_nobody();
update private.quotas set amount = null where name = 'trace_bytes';
select tests.act_as_user('owner');
select is(pg_temp.forks(3), 'none none none', 'without the quota, any number is made');

select * from finish();
rollback;
