begin;
set local search_path = public, extensions;
select plan(7);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
create function pg_temp.save(p_seq int, p_step jsonb) returns boolean language sql as $$
  select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, jsonb_build_array(jsonb_build_object(
    'seq', p_seq, 'kind', 'system', 'name', 'save_intermediate_data', 'state', 'done') || p_step))
$$;
create function pg_temp.stored() returns bigint language sql as $$ select byte_count from private.stored_totals $$;

select pg_temp.save(1, '{"output": {}, "data": {"a": "12345678"}}');
select is(pg_temp.stored(), 10::bigint, 'saved data counts as JSON text');
select pg_temp.save(2, '{"output": {"bytes": 1000}, "storage_path": "job/task/report.md"}');
select is(pg_temp.stored(), 1010::bigint, 'a file counts with its size');
select pg_temp.save(3, '{"output": {"bytes": 200}, "storage_path": "job/task/report.md"}');
select is(pg_temp.stored(), 210::bigint, 'an overwritten file counts once');
update private.quotas set amount = 300 where name = 'stored_bytes';
select is(
  tests.code_of(format('select private.assert_may_store(%L, 91)', (select id from made))), 'QUOTA_EXCEEDED', 'the quota cannot be exceeded'
);
select lives_ok(format('select private.assert_may_store(%L, 90)', (select id from made)), 'the quota can be used completely');
select private.finish_task((select id from made), tests.epoch_of((select id from made)), '{}', '{"storage_path": "job/task/_output.json", "bytes": 50}');
select is(pg_temp.stored(), 260::bigint, 'a large output counts');
delete from public.tasks;
select is(pg_temp.stored(), 0::bigint, 'deleted data no longer counts');

select * from finish();
rollback;
