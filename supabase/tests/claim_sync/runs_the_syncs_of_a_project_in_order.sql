begin;
set local search_path = public, extensions;
select plan(6);

insert into public.projects (id, slug, github_repo) values (md5('project')::uuid, 'one', 'org/one');
create temp table made on commit drop as
  select 'first' as name, sync_id from private.receive_files('one', '[{"path": "a.md", "content": "a", "blob_sha": "1"}]');
insert into made select 'second', sync_id from private.receive_files('one', '[{"path": "a.md", "content": "b", "blob_sha": "2"}]');
create function pg_temp.id_of(p_name text) returns uuid language sql as $$ select sync_id from made where name = p_name $$;

-- Even while the first has to wait.
update public.quoth_syncs set run_after = clock_timestamp() + interval '1 hour' where id = pg_temp.id_of('first');
select is_empty($$ select * from private.claim_sync('w1', 60) $$, 'the second waits for the first');
update public.quoth_syncs set run_after = null;
select is((select sync_id from private.claim_sync('w1', 60)), pg_temp.id_of('first'), 'the first is claimed');
select is_empty($$ select * from private.claim_sync('w2', 60) $$, 'the second still waits while the first runs');

delete from private.quoth_sync_files where sync_id = pg_temp.id_of('first');
select ok(private.finish_sync(pg_temp.id_of('first'), (select epoch from public.quoth_syncs where id = pg_temp.id_of('first'))), 'the first ends');
select is((select sync_id from private.claim_sync('w2', 60)), pg_temp.id_of('second'), 'the second sync runs');
select is(
  (select array[status, worker_id] from public.quoth_syncs where id = pg_temp.id_of('second')),
  array['running', 'w2'], 'the second runs under the worker that claimed it'
);

select * from finish();
rollback;
