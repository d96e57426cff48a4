begin;
set local search_path = public, extensions;
select plan(3);

select private.configure_project_url('http://127.0.0.1:1');
create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
set constraints all immediate;
delete from net.http_request_queue;

select private.tick();
select is((select count(*) from net.http_request_queue)::int, 0, 'a fresh lease needs nobody');

-- Two heartbeats of the usual ten seconds have not come.
update public.tasks set lease_expires_at = clock_timestamp() + interval '10 seconds';
select private.tick();
select is((select count(*) from net.http_request_queue)::int, 1, 'somebody is to be there when it ends');
select is((select status from public.tasks), 'running', 'until then the task is its worker''s');

select * from finish();
rollback;
