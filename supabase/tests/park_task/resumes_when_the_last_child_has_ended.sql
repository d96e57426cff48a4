begin;
set local search_path = public, extensions;
select plan(1);

create temp table made on commit drop as select tests.create_family(1) as id;
create temp table child on commit drop as select id, tests.claim(id) as epoch from public.tasks where parent_id = (select id from made);
select private.finish_task(id, epoch, '{}') from child;

select is(private.park_task((select id from made), tests.epoch_of((select id from made))), 'continue', 'there is nothing to wait for');

select * from finish();
rollback;
