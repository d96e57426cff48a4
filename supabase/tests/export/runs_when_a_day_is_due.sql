begin;
set local search_path = public, extensions;
select plan(4);

select private.configure_project_url('http://127.0.0.1:1');
delete from net.http_request_queue;

update private.exports set exported_until = private.last_day_to_export() + 1;
select private.wake_export();
select is_empty('select * from net.http_request_queue', 'no request is sent when nothing is due');

update private.exports set exported_until = private.last_day_to_export() where kind = 'failures';
select private.wake_export();
select is(
  (select url from net.http_request_queue), 'http://127.0.0.1:1/functions/v1/supaswarm-export',
  'one due day of one kind is enough'
);
select ok(
  (select private.is_wake_token(headers ->> 'x-supaswarm-wake-token') from net.http_request_queue),
  'the request uses only the wake token'
);

select is(
  (select array[schedule, command] from cron.job where jobname = 'supaswarm-export' and active),
  array['20 * * * *', 'select private.wake_export()'], 'cron checks every hour'
);

select * from finish();
rollback;
