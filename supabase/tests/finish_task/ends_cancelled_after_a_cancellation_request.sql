begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
select public.cancel_task((select id from made));

select is(private.finish_task((select id from made), tests.epoch_of((select id from made)), '{}'), 'cancelled', 'a late result ends the task as cancelled');
select is((select output from public.tasks), null, 'its output is discarded');

select * from finish();
rollback;
