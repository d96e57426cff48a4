begin;
set local search_path = public, extensions;
select plan(3);

select private.configure_project_url('http://127.0.0.1:1');
create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
set constraints all immediate;
delete from net.http_request_queue;

select private.tick();
select is((select count(*) from net.http_request_queue)::int, 0, 'a recent lease wakes nobody');

-- Two heartbeats of the usual ten seconds are missing.
update public.tasks set lease_expires_at = clock_timestamp() + interval '10 seconds';
select private.tick();
select is((select count(*) from net.http_request_queue)::int, 1, 'a worker is woken for the end of the lease');
select is((select status from public.tasks), 'running', 'until then the task belongs to its worker');

select * from finish();
rollback;
