begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_task('{"max_tasks": null}') as id;
insert into private.quotas (name, amount) values ('max_tasks', 5);
create temp table forked on commit drop as select public.fork_task((select id from made), 1) as id;
select is((select budget -> 'max_tasks' from public.tasks where id = (select id from forked)), '5', 'a fork has the ceilings');
update private.quotas set amount = 1 where name = 'task_creations_per_minute';
select is(
  tests.code_of(format('select private.fork_task(%L, 1)', (select id from made))), 'QUOTA_EXCEEDED', 'a fork counts as a creation'
);

select * from finish();
rollback;
