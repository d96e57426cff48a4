begin;
set local search_path = public, extensions;
select plan(1);

select private.configure_project_url('http://127.0.0.1:1');
delete from net.http_request_queue;
update private.wake_gate set last_wake_at = '-infinity';

savepoint before_the_first;
select tests.create_task();
rollback to savepoint before_the_first;
select tests.create_task();
set constraints all immediate;

select is(
  (select count(*) from net.http_request_queue)::int, 1,
  'a task that was rolled back does not prevent the next one from waking a worker'
);

select * from finish();
rollback;
