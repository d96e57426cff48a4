-- The answers of pgmq 1.5.1: every function and overload, every refusal, and the remaining objects.
-- Nothing here depends on the server's clock beyond a few seconds.

-- Creating the extension -----------------------------------------------------------------------

show search_path;
begin;
create extension pgmq;
-- Later names have to be qualified until the transaction ends.
show search_path;
create table unqualified (id int);
rollback;
begin;
create extension pgmq;
create table public.pgmq_qualified (id int);
commit;
show search_path;
drop table public.pgmq_qualified;
select extversion, extrelocatable, extnamespace::regnamespace::text as schema, extowner::regrole::text as owner
from pg_extension where extname = 'pgmq';
select extconfig::regclass[]::text as dumped from pg_extension where extname = 'pgmq';

-- What it is made of ---------------------------------------------------------------------------

select proname as name, pg_get_function_arguments(oid) as arguments, pg_get_function_result(oid) as result,
  provolatile as volatility, proisstrict as is_strict, prosecdef as is_definer, proowner::regrole::text as owner
from pg_proc where pronamespace = 'pgmq'::regnamespace and proname !~ '^_'
order by proname collate "C", pg_get_function_arguments(oid) collate "C";
select attribute.attrelid::regclass::text as relation, attname as name,
  format_type(atttypid, atttypmod) as type, attnotnull as is_required
from pg_attribute as attribute
where attrelid::regclass::text in ('pgmq.meta', 'pgmq.message_record', 'pgmq.queue_record', 'pgmq.metrics_result')
  and attnum > 0
order by attrelid::regclass::text collate "C", attnum;
select relname as name, relkind as kind, relowner::regrole::text as owner from pg_class
where relnamespace = 'pgmq'::regnamespace and relname in ('meta', 'message_record', 'queue_record', 'metrics_result')
order by relname collate "C";
select has_schema_privilege('pg_monitor', 'pgmq', 'usage') as uses, has_table_privilege('pg_monitor', 'pgmq.meta', 'select') as reads;
select has_schema_privilege('service_role', 'pgmq', 'usage') as service, has_schema_privilege('authenticated', 'pgmq', 'usage') as users;

-- Queues ---------------------------------------------------------------------------------------

select pgmq.create('jobs');
select pgmq.create('jobs');
select attrelid::regclass::text as relation, attname as name, format_type(atttypid, atttypmod) as type,
  attnotnull as is_required, attidentity as identity
from pg_attribute where attrelid in ('pgmq.q_jobs'::regclass, 'pgmq.a_jobs'::regclass) and attnum > 0
order by attrelid::regclass::text collate "C", attnum;
select tablename, indexname, indexdef from pg_indexes where schemaname = 'pgmq' and tablename in ('q_jobs', 'a_jobs')
order by indexname collate "C";
select relname as name, relkind as kind, relpersistence as persistence, relowner::regrole::text as owner
from pg_class where relnamespace = 'pgmq'::regnamespace and relname ~ '^[qa]_jobs' order by relname collate "C";
select objid::regclass::text as member from pg_depend
where refobjid = (select oid from pg_extension where extname = 'pgmq') and objid::regclass::text ~ 'pgmq.[qa]_jobs'
order by objid::regclass::text collate "C";
select has_table_privilege('pg_monitor', 'pgmq.q_jobs', 'select') as monitored;
select pgmq.create_non_partitioned('plain');
select pgmq.create_unlogged('fast');
select relname as name, relpersistence as persistence from pg_class
where relnamespace = 'pgmq'::regnamespace and relname in ('q_fast', 'a_fast', 'q_plain') order by relname collate "C";
select queue_name, is_partitioned, is_unlogged, created_at <= now() as is_dated from pgmq.list_queues() order by 1;
select pgmq.create(repeat('n', 47));
select pgmq.create(repeat('n', 48));
select pgmq.create_unlogged(repeat('u', 48));
select pgmq.validate_queue_name(repeat('v', 47));
select pgmq.validate_queue_name(repeat('v', 48));
select pgmq.create(null);
select pgmq.create('with-hyphen');
select * from pgmq.send('with-hyphen', '{"n": 1}');
select msg_id, read_ct, message from pgmq.read('with-hyphen', 1, 1);
select pgmq.archive('with-hyphen', 1);
select pgmq.create('MixedCase');
select * from pgmq.send('MixedCase', '{"n": 1}');
select msg_id, read_ct, message from pgmq.read('mixedcase', 1, 1);
select pgmq.archive('MIXEDCASE', 1);
select queue_name from pgmq.list_queues() where lower(queue_name) = 'mixedcase';
select pgmq.drop_queue('mixedcase');
select queue_name from pgmq.list_queues() where lower(queue_name) = 'mixedcase';
select count(*) from pgmq.metrics_all();
delete from pgmq.meta where queue_name = 'MixedCase';
select pgmq.create('dollar$sign');
select pgmq.create('semi;colon');
select pgmq.create('double--dash');
select pgmq.create('single''quote');
select pgmq.create('with space');
select pgmq.drop_queue('with space');
select pgmq.create('');
select pgmq.drop_queue('');
select pgmq.format_table_name('jobs', 'q') as queue, pgmq.format_table_name('Two-Words', 'a') as archive;
select pgmq.format_table_name('x$', 'q');
select pgmq.format_table_name('x;', 'q');
select pgmq.format_table_name('x--', 'a');
select pgmq.format_table_name($$x'$$, 'a');
select pgmq.format_table_name(null, 'a');
select pgmq.delete('jobs where true; drop table pgmq.a_jobs; delete from pgmq.q_jobs', 1);
select pgmq.send('absent', '{}');
select pgmq.read('absent', 1, 1);
select pgmq.read_with_poll('absent', 1, 1, 1);
select pgmq.pop('absent');
select pgmq.set_vt('absent', 1, 1);
select pgmq.delete('absent', 1);
select pgmq.archive('absent', 1);
select pgmq.purge_queue('absent');
select pgmq.metrics('absent');
select pgmq.detach_archive('absent');

-- Sending --------------------------------------------------------------------------------------

select pgmq.create('sent');
select * from pgmq.send('sent', '{"n": 1}');
select * from pgmq.send('sent', '{"n": 2}', '{"h": 2}'::jsonb);
select * from pgmq.send('sent', '{"n": 3}', 0);
select * from pgmq.send('sent', '{"n": 4}', now() - interval '1 second');
select * from pgmq.send('sent', '{"n": 5}', '{"h": 5}'::jsonb, 0);
select * from pgmq.send('sent', '{"n": 6}', '{"h": 6}'::jsonb, now() - interval '1 second');
select * from pgmq.send('sent', null);
select * from pgmq.send('sent', 'null');
select * from pgmq.send('sent', '[1, "two"]');
select * from pgmq.send('sent', '{"later": true}', 3600);
select * from pgmq.send('sent', '{"later": true}', now() + interval '1 hour');
select * from pgmq.send('sent', '{}', -5);
select pgmq.send('sent', '{}', null);
select pgmq.send('sent', '{}', null, null);
select * from pgmq.send(queue_name => 'sent', msg => '{"named": true}', delay => 0);
select * from pgmq.send('sent', '{"no": "time"}', null::int);
select msg_id, message, headers, vt <= clock_timestamp() as is_visible, read_ct from pgmq.q_sent order by msg_id;
select array(select pgmq.send_batch('sent', array['{"b": 1}', '{"b": 2}']::jsonb[]))::text as ids;
select array(select pgmq.send_batch('sent', array['{"b": 3}', '{"b": 4}']::jsonb[], array['{"h": 3}', '{"h": 4}']::jsonb[]))::text as ids;
select array(select pgmq.send_batch('sent', array['{"b": 5}']::jsonb[], 3600))::text as ids;
select array(select pgmq.send_batch('sent', array['{"b": 6}']::jsonb[], now() + interval '1 hour'))::text as ids;
select array(select pgmq.send_batch('sent', array['{"b": 7}']::jsonb[], array['{"h": 7}']::jsonb[], 0))::text as ids;
select array(select pgmq.send_batch('sent', array['{"b": 8}']::jsonb[], array['{"h": 8}']::jsonb[], now() - interval '1 second'))::text as ids;
-- Lists of unequal lengths are padded with null.
select array(select pgmq.send_batch('sent', array['{"b": 9}', '{"b": 10}']::jsonb[], array['{"h": 9}']::jsonb[]))::text as ids;
select array(select pgmq.send_batch('sent', array['{"b": 11}']::jsonb[], array['{"h": 11}', '{"h": 12}']::jsonb[]))::text as ids;
select array(select pgmq.send_batch('sent', array[]::jsonb[]))::text as ids;
select array(select pgmq.send_batch('sent', array[]::jsonb[], array[]::jsonb[]))::text as ids;
select array(select pgmq.send_batch('sent', null::jsonb[]))::text as ids;
select array(select pgmq.send_batch('sent', array[null, '{"b": 13}']::jsonb[]))::text as ids;
select pgmq.send_batch('sent', array['{}']::jsonb[], null);
select msg_id, message, headers, vt <= clock_timestamp() as is_visible from pgmq.q_sent where msg_id > 13 order by msg_id;

-- Receiving ------------------------------------------------------------------------------------

select pgmq.create('inbox');
select array(select pgmq.send_batch('inbox', array['{"k": "a", "n": 1}', '{"k": "b", "n": 2}', '{"k": "a", "n": 3}', 'null', null]::jsonb[]))::text as ids;
select msg_id, read_ct, message, headers, vt > clock_timestamp() + interval '50 seconds' as is_leased from pgmq.read('inbox', 60, 2) order by msg_id;
select msg_id, read_ct from pgmq.read('inbox', 0, 10) order by msg_id;
select msg_id, read_ct from pgmq.read('inbox', 0, 10) order by msg_id;
select msg_id from pgmq.read('inbox', 0, 0);
select msg_id from pgmq.read('inbox', 0, -1);
select msg_id from pgmq.read('inbox', 0, null) order by msg_id;
select msg_id from pgmq.read('inbox', -10, 1);
select msg_id from pgmq.read('inbox', null, 1);
select msg_id from pgmq.q_inbox order by msg_id;
select msg_id from pgmq.set_vt('inbox', 1, 0);
select msg_id from pgmq.set_vt('inbox', 2, 0);
select msg_id, message from pgmq.read('inbox', 0, 10, '{"k": "a"}') order by msg_id;
select msg_id from pgmq.read('inbox', 0, 10, '{"k": "a", "n": 3}');
select msg_id from pgmq.read('inbox', 0, 10, '{"k": "z"}');
select msg_id from pgmq.read('inbox', 0, 10, '{}') order by msg_id;
select msg_id from pgmq.read('inbox', 0, 10, conditional => null) order by msg_id;
select msg_id from pgmq.read('inbox', 0, 10, 'null') order by msg_id;
select msg_id from pgmq.read('inbox', 0, 10, '[]') order by msg_id;
select msg_id from pgmq.read('inbox', 0, 10, '{"k": "it''s"}');
select msg_id from pgmq.read_with_poll('inbox', 0, 10, 0);
select msg_id from pgmq.read_with_poll('inbox', 0, 10, -1);
select msg_id from pgmq.read_with_poll('inbox', 0, 10, 1) order by msg_id;
select msg_id from pgmq.read_with_poll('inbox', 0, 10, 1, 10, '{"k": "b"}');
select msg_id from pgmq.read_with_poll('inbox', 0, 10, 1, 10, '{"k": "z"}');
select msg_id from pgmq.read_with_poll('inbox', 0, 10, 1, 10, null) order by msg_id;
select msg_id from pgmq.read_with_poll('inbox', 60, 10) order by msg_id;
select msg_id from pgmq.set_vt('inbox', 1, 1);
select msg_id, vt > clock_timestamp() + interval '50 seconds' as is_leased from pgmq.read_with_poll('inbox', 60, 1, 5, 20);
select msg_id, read_ct, message, headers from pgmq.pop('inbox');
select msg_id from pgmq.set_vt('inbox', 2, -1);
select msg_id, message from pgmq.pop('inbox');
select msg_id from pgmq.q_inbox order by msg_id;
select pgmq.pop('inbox', 2);
select msg_id, read_ct >= 3 as is_counted, vt > clock_timestamp() + interval '90 seconds' as is_moved, message, headers from pgmq.set_vt('inbox', 3, 100);
select msg_id from pgmq.set_vt('inbox', 9999, 0);
select msg_id from pgmq.set_vt('inbox', null, 0);
select msg_id from pgmq.set_vt('inbox', 3, null);
select msg_id from pgmq.set_vt('inbox', 3, now());
select msg_id from pgmq.set_vt('inbox', array[3], 0);
begin;
select count(*) from pgmq.read('sent', 60, 5);
rollback;
select max(read_ct) as read_ct from pgmq.q_sent;

-- Finishing ------------------------------------------------------------------------------------

select pgmq.create('done');
select array(select pgmq.send_batch('done', array['1', '2', '3', '4', '5', '6', '7']::jsonb[], array['{"h": 1}']::jsonb[]))::text as ids;
select count(*) from pgmq.read('done', 60, 1);
select pgmq.archive('done', 1);
select pgmq.archive('done', 1);
select pgmq.archive('done', 9999);
select pgmq.archive('done', null::bigint);
select array(select pgmq.archive('done', array[2, 3, -3]) order by 1)::text as ids;
select array(select pgmq.archive('done', array[]::bigint[]))::text as ids;
select array(select pgmq.archive('done', null::bigint[]))::text as ids;
select msg_id, read_ct, message, headers, archived_at >= enqueued_at as is_dated, vt is not null as has_vt from pgmq.a_done order by msg_id;
select pgmq.delete('done', 4);
select pgmq.delete('done', 4);
select pgmq.delete('done', null::bigint);
select array(select pgmq.delete('done', array[5, 6, 9999]) order by 1)::text as ids;
select array(select pgmq.delete('done', array[]::bigint[]))::text as ids;
select pgmq.delete('done', null);
select msg_id from pgmq.q_done order by msg_id;
select pgmq.purge_queue('done');
select pgmq.purge_queue('done');
select count(*) from pgmq.a_done;
select * from pgmq.send('done', '8');

-- Metrics --------------------------------------------------------------------------------------

select pgmq.create('measured');
select queue_name, queue_length, newest_msg_age_sec, oldest_msg_age_sec, total_messages, queue_visible_length, scrape_time = now() as is_now
from pgmq.metrics('measured');
select array(select pgmq.send_batch('measured', array['1', '2', '3', '4', '5']::jsonb[]))::text as ids;
select array(select pgmq.send_batch('measured', array['6', '7']::jsonb[], 600))::text as ids;
select pgmq.archive('measured', 1);
select queue_name, queue_length, newest_msg_age_sec < 5 as is_new, oldest_msg_age_sec < 5 as is_young, total_messages, queue_visible_length
from pgmq.metrics('measured');
select queue_name, total_messages from pgmq.metrics('MEASURED');
select queue_name, queue_length from pgmq.metrics_all() where queue_name in ('measured', 'done') order by 1;
select pgmq.metrics(null);

-- Removing -------------------------------------------------------------------------------------

select pgmq.drop_queue('plain');
select pgmq.drop_queue('plain');
select pgmq.drop_queue('never_made');
select pgmq.drop_queue('fast', true);
select to_regclass('pgmq.q_plain') as queue, to_regclass('pgmq.a_plain') as archive;
select pgmq.drop_queue('x;y');
select pgmq.create('kept');
select pgmq.detach_archive('kept');
select pgmq.detach_archive('kept');
begin;
select pgmq.create('rolled_back');
rollback;
select to_regclass('pgmq.q_rolled_back') as queue;
alter extension pgmq drop table pgmq.q_sent;
select pgmq.drop_queue('sent');
select to_regclass('pgmq.q_sent') as queue, to_regclass('pgmq.a_sent') as archive;
drop table pgmq.q_jobs;
select pgmq.create_partitioned('parted');
select pgmq.create_partitioned('parted', '10 seconds', '20 seconds');
select pgmq.create_partitioned(repeat('p', 48));
select pgmq.create_partitioned('dollar$sign');
select pgmq.convert_archive_partitioned('jobs');
select pgmq.convert_archive_partitioned('never_made');
drop extension pgmq;
drop extension pgmq cascade;
select to_regclass('pgmq.q_kept') as queue, to_regclass('pgmq.a_kept') as archive;
create extension pgmq;
select pgmq.create('kept');
select queue_name from pgmq.list_queues();
drop extension pgmq cascade;
drop schema pgmq cascade;
