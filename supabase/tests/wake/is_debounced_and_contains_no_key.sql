begin;
set local search_path = public, extensions;
select plan(3);

select private.configure_project_url('http://127.0.0.1:1');
delete from net.http_request_queue;
update private.wake_gate set last_wake_at = '-infinity';

select tests.create_task(), tests.create_task(), tests.create_task();
set constraints all immediate;

select is((select count(*) from net.http_request_queue)::int, 1, 'three tasks cause one wake-up');
select is((select url from net.http_request_queue), 'http://127.0.0.1:1/functions/v1/supaswarm-worker', 'the request goes to the worker');
select ok(
  (select private.is_wake_token(headers ->> 'x-supaswarm-wake-token') and not private.is_wake_token('guess') from net.http_request_queue),
  'the request uses only the wake token'
);

select * from finish();
rollback;
