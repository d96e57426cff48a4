begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as id;
create function pg_temp.add(p_seq int, p_kind text, p_state text, p_input jsonb default null) returns void language sql as $$
  insert into public.task_steps (task_id, seq, kind, state, input, output, epoch, ended_at)
  select id, p_seq, p_kind, p_state, p_input,
    case p_state when 'started' then null else '{}'::jsonb end, 1, case p_state when 'started' then null else now() end
  from made
$$;
create function pg_temp.retry() returns int[] language plpgsql as $$
begin
  update public.tasks set status = 'failed', error = '{}', finished_at = now() where id = (select id from made);
  perform private.reopen_task((select id from made));
  return array(select seq from public.task_steps where input ? 'retried' order by seq);
end
$$;

select is(pg_temp.retry(), '{}', 'nothing is marked before the first answer');
select pg_temp.add(1, 'model', 'done');
select pg_temp.add(2, 'model', 'started');
select is(pg_temp.retry(), '{}', 'nor while the call after an answer is open, which is made again');
delete from public.task_steps where seq = 2;
select pg_temp.add(2, 'model', 'done', '{"left_out": {}}');
select pg_temp.add(3, 'model', 'done', '{"summarizes_through": 1}');
select is(pg_temp.retry(), '{2}', 'the last answer is, not a summary');
select is((select input from public.task_steps where seq = 2), '{"left_out": {}, "retried": true}', 'beside what it omitted');
select pg_temp.add(4, 'model', 'done');
select is(pg_temp.retry(), '{2,4}', 'each retry leaves its mark');
select pg_temp.add(5, 'user', 'done', '"Go on"');
update public.task_steps set input = null where seq = 4;
select is(pg_temp.retry(), '{2}', 'an answer to an earlier message is not asked for again');

select * from finish();
rollback;
