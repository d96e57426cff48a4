begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_user('owner'), tests.create_agent('worker-agent');
insert into storage.objects (bucket_id, name, metadata)
select 'supaswarm-data', tests.user_id('owner') || '/' || name, jsonb_build_object('size', size)
from (values ('first.pdf', 6000000), ('second.pdf', 6000000), ('small.pdf', 1000)) as upload (name, size);
create function pg_temp.naming(p_name text) returns jsonb language sql as $$
  select jsonb_build_object('files', jsonb_build_array(tests.user_id('owner') || '/' || p_name))
$$;
create temp table made on commit drop as
select task_id as id from private.create_task('worker-agent', pg_temp.naming('first.pdf'), tests.user_id('owner'));
create function pg_temp.end_task() returns void language sql as $$
  update public.tasks set status = 'completed', output = '1', finished_at = now() where id = (select id from made)
$$;
create function pg_temp.continue_with(p_input jsonb) returns text language sql as $$
  select tests.code_of(format('select private.continue_task((select id from made), %L)', p_input))
$$;

select pg_temp.end_task();
select is(pg_temp.continue_with(pg_temp.naming('second.pdf')), 'FILES_TOO_LARGE', 'the input and the message together exceed the bytes');
select is(pg_temp.continue_with(pg_temp.naming('first.pdf')), 'none', 'a file that is named again counts once');
select pg_temp.end_task();
select is(pg_temp.continue_with(pg_temp.naming('small.pdf')), 'none', 'a file within the limit is accepted');
select pg_temp.end_task();
select is(pg_temp.continue_with('"And now?"'), 'none', 'a message without files is accepted');

select * from finish();
rollback;
