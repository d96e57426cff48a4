begin;
set local search_path = public, extensions;
select plan(6);
select tests.create_user(name) from unnest(array['runner', 'stranger']) as name;
create temp table run on commit drop as
  select * from private.begin_eval_run(p_agent => 'writer', p_user_id => tests.user_id('runner'));
grant select on run to authenticated;
create function pg_temp.result(p_repeat int, p_passed boolean) returns jsonb language sql as $$
  select jsonb_build_object(
    'test', 'writes', 'repeat', p_repeat, 'passed', p_passed, 'score', p_passed::int, 'assertions', '[]'::jsonb
  );
$$;

select private.record_eval_result((select id from run), pg_temp.result(1, true));
select private.record_eval_result((select id from run), pg_temp.result(2, false));

select results_eq(
  'select result_count, passed_count, finished_at from public.eval_runs where id = (select id from run)',
  'values (2, 1, null::timestamptz)',
  'a run counts its results, and has not ended'
);
select throws_ok(
  'select private.record_eval_result((select id from run), pg_temp.result(2, true))',
  '23505', null, 'a job of a test has one result'
);
select private.end_eval_run((select id from run));
select isnt(finished_at, null, 'a run ends') from public.eval_runs where id = (select id from run);
create temp table ended on commit drop as select finished_at from public.eval_runs where id = (select id from run);
select private.end_eval_run((select id from run));
select is(
  (select finished_at from public.eval_runs where id = (select id from run)), (select finished_at from ended),
  'a run ends once'
);

select tests.act_as_user('runner');
select is(
  (select count(*) from public.eval_results where run_id = (select id from run)), 2::bigint,
  'the owner of the jobs reads the results'
);
select tests.act_as_user('stranger');
select is_empty('select from public.eval_results', 'another user does not');

select finish();
rollback;
