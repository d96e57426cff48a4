begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_task() from generate_series(1, 3);
update private.task_events set at = now() - interval '31 days'
where id in (select id from private.task_events order by id limit 2);

insert into private.settings (key, value) values ('keep_events_days', '99999');
select is(private.delete_old_events(10), 0, 'a long setting keeps everything');
update private.settings set value = '30' where key = 'keep_events_days';
select is(private.delete_old_events(1), 1, 'no more than the requested number is deleted');
select is(private.delete_old() ->> 'events', '1', 'then the rest is deleted');
select is((select count(*) from public.task_events)::int, 1, 'the recent event is kept');

select * from finish();
rollback;
