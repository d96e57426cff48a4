begin;
set local search_path = public, extensions;
select plan(7);

create temp table made on commit drop as select tests.create_family(1) as id;
create temp table child on commit drop as select id from public.tasks where parent_id = (select id from made);
grant select on made, child to authenticated, service_role;
select tests.create_user('stranger');

select tests.act_as_user('stranger');
select is(tests.code_of($$select public.watch_task((select id from made))$$), 'TASK_NOT_FOUND', 'a stranger finds no task');
select is(tests.code_of('select public.watch_task(null)'), 'TASK_NOT_FOUND', 'a null id is not found');
select tests.act_as_nobody();
select is_empty('select from private.watched_jobs', 'nothing is watched');

select tests.act_as_user('owner');
select ok(
  public.watch_task((select id from child)) between clock_timestamp() + interval '59 seconds'
    and clock_timestamp() + interval '60 seconds',
  'the owner gets the end of the watch'
);
select tests.act_as_nobody();
select results_eq('select master_task_id from private.watched_jobs', 'select id from made', 'the job is watched');

insert into private.settings (key, value) values ('watch_seconds', '5')
on conflict (key) do update set value = excluded.value;
select tests.act_as_service();
select ok(
  public.watch_task((select id from made)) > clock_timestamp() + interval '50 seconds',
  'a shorter watch does not shorten a longer one'
);
select tests.act_as_nobody();

update private.watched_jobs set watched_until = clock_timestamp() - interval '2 hours';
create temp table other on commit drop as select private.watch_task(tests.create_task()) as watched_until;
select is((select count(*) from private.watched_jobs)::int, 1, 'old watches are deleted');

select * from finish();
rollback;
