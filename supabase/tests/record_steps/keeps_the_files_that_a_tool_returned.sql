begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
create function pg_temp.record(p_seq int, p_kind text, p_output jsonb) returns boolean language sql as $$
  select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, jsonb_build_array(jsonb_build_object(
    'seq', p_seq, 'kind', p_kind, 'name', 'draw', 'state', 'done', 'output', p_output)))
$$;
create function pg_temp.paths() returns text[] language sql as $$
  select storage_paths from public.tasks where id = (select id from made)
$$;

select pg_temp.record(1, 'tool', '{"text": "", "files": [{"path": "j/t/1.png", "media_type": "image/png", "bytes": 10}, {"path": "j/t/2.pdf", "media_type": "application/pdf", "bytes": 20}]}');
select is(pg_temp.paths(), array['j/t/1.png', 'j/t/2.pdf'], 'both are files of the task');
select is((select byte_count from private.stored_totals), 30::bigint, 'the files count as stored');
select is(
  (select payload -> 'files' -> 1 ->> 'path' from public.task_events where type = 'tool.completed'), 'j/t/2.pdf', 'the trace names the files'
);
select pg_temp.record(2, 'tool', '{"text": "", "files": [{"path": "j/t/1.png", "media_type": "image/png", "bytes": 10}]}');
select is(pg_temp.paths(), array['j/t/1.png', 'j/t/2.pdf'], 'each path is stored once');
select pg_temp.record(3, 'system', '{"text": "", "files": [{"path": "another/job/3.png", "media_type": "image/png", "bytes": 10}]}');
select is(pg_temp.paths(), array['j/t/1.png', 'j/t/2.pdf'], 'a result that is read again stores nothing');
select pg_temp.record(4, 'tool', '{"text": "plain"}');
select is(pg_temp.paths(), array['j/t/1.png', 'j/t/2.pdf'], 'a result without files stores nothing');

select * from finish();
rollback;
