-- The answers of pg_net 0.20.4. Requests are read before their transaction rolls back, so none
-- is sent.

create extension pg_net;
select extversion from pg_extension where extname = 'pg_net';
select proname as name, pg_get_function_arguments(oid) as arguments, pg_get_function_result(oid) as result, proisstrict as is_strict, prosecdef as is_definer
from pg_proc where pronamespace = 'net'::regnamespace and proname in ('http_get', 'http_post', 'http_delete', 'http_collect_response', '_http_collect_response', '_await_response', '_urlencode_string', '_encode_url_with_params_array', 'wake', 'worker_restart', 'wait_until_running', 'check_worker_is_up')
order by proname collate "C";
select attrelid::regclass::text as relation, attname as name, format_type(atttypid, atttypmod) as type, attnotnull as is_required
from pg_attribute where attrelid::regclass::text in ('net.http_request_queue', 'net._http_response', 'net.http_response', 'net.http_response_result') and attnum > 0
order by attrelid::regclass::text collate "C", attnum;
select relname as name, relpersistence as persistence from pg_class where relnamespace = 'net'::regnamespace and relkind = 'r' order by relname collate "C";
select role, has_schema_privilege(role, 'net', 'usage') as uses, has_table_privilege(role, 'net.http_request_queue', 'select') as reads,
  has_function_privilege(role, 'net.http_get(text, jsonb, jsonb, integer)', 'execute') as calls
from unnest(array['anon', 'authenticated', 'service_role', 'postgres']) as role;
-- The case of percent-encoded letters in a query depends on the version of curl.
select net.wait_until_running() is null as is_void;
select net.check_worker_is_up() is null as is_void;
select net._urlencode_string('a b&c=d/ü~-_.?+%') as encoded;
select net._urlencode_string('') as encoded;
select net._urlencode_string(null) as encoded;
select net._encode_url_with_params_array('http://host/x', '{}') as url;
select net._encode_url_with_params_array('http://host/x', '{a=1,b=2}') as url;
select net._encode_url_with_params_array('http://host/x?c=3', '{a=1}') as url;
select net._encode_url_with_params_array('http://host', '{a=1}') as url;
select net._encode_url_with_params_array('http://host/x#part', '{a=1}') as url;

begin;
select net.http_post('http://host/x?a=1', '{"n": 1}', '{"e k": "1&2"}') > 0 as is_queued;
select method, url, headers, convert_from(body, 'utf8') as body, timeout_milliseconds from net.http_request_queue;
rollback;
begin;
select net.http_post('http://host/x', headers => '{"apikey": "k"}') > 0 as is_queued;
select net.http_post('http://host/x', headers => '{"content-type": "application/json"}') > 0 as is_queued;
select net.http_post('http://host/x', body => null) > 0 as is_queued;
select net.http_post('http://host/x', headers => null) > 0 as is_queued;
select net.http_post('http://host/x', body => '"text"', timeout_milliseconds => 1) > 0 as is_queued;
select net.http_get('http://host/x', '{"b": 2, "a": null}', '{"x": "y"}', 100) > 0 as is_queued;
select net.http_get('http://host/x') > 0 as is_queued;
select net.http_delete('http://host/x', body => '{"n": 1}') > 0 as is_queued;
select net.http_delete('http://host/x') > 0 as is_queued;
select method, url, headers, convert_from(body, 'utf8') as body, timeout_milliseconds from net.http_request_queue order by id;
rollback;
select net.http_post('http://host/x', headers => '{"Content-Type": "text/plain"}');
select net.http_post('http://host/x', headers => '{"content-type": "application/json; charset=utf-8"}');
select net.http_get(null);
select net.http_get('http://host', timeout_milliseconds => null);
insert into net.http_request_queue (method, url, timeout_milliseconds) values ('put', 'http://host', 1);
begin;
insert into net.http_request_queue (method, url, timeout_milliseconds) values ('Get', 'http://host', 1);
rollback;

select (net._http_collect_response(4711)).*;
insert into net._http_response (id, status_code, content, headers) values (-1, 200, 'ok', '{"a": "b"}'), (-2, 500, 'no', null);
insert into net._http_response (id, error_msg, timed_out) values (-3, 'Timeout of 5 ms reached', true);
select (net._http_collect_response(-1)).*;
select (net._http_collect_response(-2, false)).*;
select (net._http_collect_response(-3)).*;
select net.http_collect_response(-1);
delete from net._http_response where id < 0;
set role anon;
begin;
select net.http_get('http://host/x') > 0 as is_queued;
select count(*) from net.http_request_queue;
rollback;
reset role;
drop extension pg_net cascade;
