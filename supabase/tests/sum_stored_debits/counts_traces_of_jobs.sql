begin;
set local search_path = public, extensions;
select plan(10);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
create function pg_temp.record(p_seq int, p_text text) returns text language sql as $$
  select tests.code_of(format('select private.record_steps(%L, %s, 30, %L, %L)', (select id from made), tests.epoch_of((select id from made)),
    jsonb_build_array(jsonb_build_object('seq', p_seq, 'kind', 'model', 'state', 'done', 'output', jsonb_build_object('text', p_text))),
    jsonb_build_array(jsonb_build_object('seq', p_seq + 1, 'kind', 'model', 'name', 'test-model'))))
$$;
create function pg_temp.used() returns bigint language sql as $$
  select private.sum_stored_debits(1000);
  select private.stored_use('trace_bytes', tests.user_id('owner'))
$$;

select cmp_ok(pg_temp.used(), '>', 1000::bigint, 'a new task counts');
create temp table before on commit drop as select pg_temp.used() as bytes;
select pg_temp.record(1, repeat('x', 10000));
select cmp_ok(pg_temp.used() - (select bytes from before), '>=', 10000::bigint, 'a step counts with its text');
select is((select byte_count from private.stored_traces), pg_temp.used(), 'the bytes are those of the job');
select is(pg_temp.used(), private.stored_use('trace_bytes', tests.user_id('owner')), 'and are counted once');
update private.quotas set amount = pg_temp.used() where name = 'trace_bytes';
select is(pg_temp.record(2, 'x'), 'QUOTA_EXCEEDED', 'a job that has used up the quota makes no further model call');
select is(
  tests.code_of('select tests.create_task()'), 'QUOTA_EXCEEDED', 'and its owner creates no other');
select lives_ok($$select tests.create_task(p_owner => 'stranger')$$, 'other users are not concerned');
select tests.claim(id) from public.tasks where created_by = tests.user_id('stranger');
select lives_ok($$select private.fail_task(id, tests.epoch_of(id), '{"code": "INTERNAL", "message": "x"}', 'never', null) from made$$, 'the job can end');
delete from public.tasks where id = (select id from made);
select is(pg_temp.used(), 0::bigint, 'a deleted job no longer counts');
select lives_ok('select tests.create_task()', 'which makes room for the next');

select * from finish();
rollback;
