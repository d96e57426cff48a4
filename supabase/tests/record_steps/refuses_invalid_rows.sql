begin;
set local search_path = public, extensions;
select plan(11);

create temp table task on commit drop as select tests.create_task() as id;
create function pg_temp.refused_by(p_statement text) returns text language plpgsql as $$
declare
  v_state text;
  v_constraint text;
begin
  execute p_statement;
  return 'none';
exception when others then
  get stacked diagnostics v_state = returned_sqlstate, v_constraint = constraint_name;
  return case v_state when '23514' then v_constraint else v_state end;
end $$;
create function pg_temp.step_refused_by(p_seq int, p_kind text, p_state text, p_output text, p_ended_at text, p_interruptions int default 0)
returns text language sql as $$
  select pg_temp.refused_by(format(
    'insert into public.task_steps (task_id, seq, kind, state, output, ended_at, interruptions, epoch)
     select id, %L, %L, %L, %L, %L, %L, 1 from task',
    p_seq, p_kind, p_state, p_output, p_ended_at, p_interruptions));
$$;

select is(pg_temp.step_refused_by(1, 'tool', 'started', null, null), 'none', 'a started step is accepted');
select is(pg_temp.step_refused_by(2, 'model', 'done', '{}', 'now'), 'none', 'a finished step is accepted');
select is(pg_temp.step_refused_by(0, 'tool', 'started', null, null), 'task_steps_counts_not_negative', 'step numbers start at one');
select is(pg_temp.step_refused_by(3, 'tool', 'started', null, null, -1), 'task_steps_counts_not_negative', 'interruptions start at zero');
select is(pg_temp.step_refused_by(3, 'dream', 'started', null, null), 'task_steps_kind_check', 'a kind is one of five');
select is(pg_temp.step_refused_by(3, 'tool', 'paused', '{}', 'now'), 'task_steps_state_check', 'a state is one of three');
select is(pg_temp.step_refused_by(3, 'tool', 'done', null, 'now'), 'task_steps_ended_has_output', 'a finished step has an output');
select is(pg_temp.step_refused_by(3, 'tool', 'started', null, 'now'), 'task_steps_ended_has_output', 'a started step has no end');

select is(
  pg_temp.refused_by($$insert into private.task_events (task_id, master_task_id, type) select id, id, 'task.dreamt' from task$$),
  'task_events_type_check', 'an event has a type of the catalog'
);
select is(
  pg_temp.refused_by($$insert into public.usage_events (model, key_source, input_tokens, output_tokens) values ('m', 'gift', 1, 1)$$),
  'usage_events_key_source_check', 'somebody''s key pays for a model call'
);
select is(
  pg_temp.refused_by($$insert into public.usage_events (model, key_source, input_tokens, output_tokens, web_search_calls)
    values ('m', 'none', 1, 1, -1)$$),
  'usage_events_counts_not_negative', 'no count of a model call is negative'
);
select * from finish();
rollback;
