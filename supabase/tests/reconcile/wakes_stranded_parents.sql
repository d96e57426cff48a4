begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_family(1) as id;
select private.park_task((select id from made), tests.epoch_of((select id from made)));
select is(private.wake_stranded_task((select id from made)), false, 'a parent that waits for an open child is left alone');
-- Simulates an end that was not counted.
update public.tasks set status = 'completed', finished_at = now() where parent_id = (select id from made);

select is(private.reconcile() ->> 'woken', '1', 'the parent has nothing left to wait for');
select is((select status from public.tasks where id = (select id from made)), 'pending', 'the parent resumes');

select * from finish();
rollback;
