begin;
set local search_path = public, extensions;
select plan(10);

select tests.create_user('owner'), tests.create_user('stranger'), tests.create_agent('worker-agent');
create function pg_temp.store(p_path text, p_bytes bigint default 10) returns void language sql as $$
  insert into storage.objects (bucket_id, name, metadata)
  values ('supaswarm-data', p_path, jsonb_build_object('size', p_bytes))
$$;
create function pg_temp.code(p_files jsonb) returns text language sql as $$
  select tests.code_of(format('select private.create_task(''worker-agent'', %L, %L)',
    jsonb_build_object('files', p_files), tests.user_id('owner')))
$$;
create function pg_temp.own(p_name text) returns jsonb language sql as $$
  select jsonb_build_array(tests.user_id('owner') || '/' || p_name)
$$;
select pg_temp.store(tests.user_id('owner') || '/report.pdf'), pg_temp.store(tests.user_id('owner') || '/tool.exe'),
  pg_temp.store(tests.user_id('owner') || '/large.PNG', 10485760), pg_temp.store(tests.user_id('stranger') || '/report.pdf');

select is(pg_temp.code(pg_temp.own('report.pdf')), 'none', 'an upload of the owner is accepted');
select is(pg_temp.code(jsonb_build_array(tests.user_id('stranger') || '/report.pdf')), 'FILE_NOT_FOUND', 'a stranger''s file is refused');
select is(pg_temp.code(pg_temp.own('missing.pdf')), 'FILE_NOT_FOUND', 'a missing file is refused');
select is(pg_temp.code(pg_temp.own('../' || tests.user_id('stranger') || '/report.pdf')), 'FILE_NOT_FOUND', 'a path traversal is refused');
select is(pg_temp.code(pg_temp.own('tool.exe')), 'FILE_TYPE_UNSUPPORTED', 'a type that no model reads is refused');
select is(pg_temp.code(pg_temp.own('large.PNG')), 'none', 'ten mebibytes are accepted');
select is(pg_temp.code(pg_temp.own('large.PNG') || pg_temp.own('report.pdf')), 'FILES_TOO_LARGE', 'more than ten mebibytes in total are refused');
select is(pg_temp.code('"report.pdf"'), 'FILE_INVALID', 'files must be a list');
select is(pg_temp.code('[{"path": "report.pdf"}]'), 'FILE_INVALID', 'each file must be text');
select pg_temp.store(task_id || '/' || task_id || '/notes.md') from private.create_task('worker-agent', '{}', tests.user_id('owner'));
select is(pg_temp.code((select jsonb_agg(name) from storage.objects where name like '%/notes.md')), 'none', 'a file that the owner''s job stored is accepted');

select * from finish();
rollback;
