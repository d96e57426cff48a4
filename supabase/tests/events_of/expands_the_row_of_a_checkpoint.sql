begin;
set local search_path = public, extensions;
select plan(10);

create temp table made on commit drop as select tests.create_task() as id;
create function pg_temp.record(p_steps jsonb, p_next jsonb default '[]') returns void language sql as $$
  select private.record_steps(id, tests.epoch_of(id), 30, p_steps, p_next) from made
$$;
create function pg_temp.calls(p_first int, p_last int, p_state text default null) returns jsonb language sql as $$
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('seq', seq, 'kind', 'tool', 'name', 'look', 'call_id', 'c' || seq,
    'input', jsonb_build_object('server', 'desk', 'arguments', jsonb_build_object('n', seq), 'data_flows', '[]'::jsonb),
    'state', p_state, 'output', case when p_state is not null then jsonb_build_object('text', 'It is ' || seq) end)))
  from generate_series(p_first, p_last) as seq
$$;
create function pg_temp.rows_after(p_id bigint) returns table (type text, payload jsonb) language sql as $$
  select type, payload from private.task_events where id > p_id order by id
$$;
create function pg_temp.last_row() returns bigint language sql as $$ select max(id) from private.task_events $$;
create temp table mark (name text, id bigint) on commit drop;

select tests.claim((select id from made));
insert into mark select 'turn', pg_temp.last_row();
select pg_temp.record(
  '[{"seq": 1, "kind": "model", "name": "m", "state": "done", "output": {"text": "I look.", "tool_calls": []}}]', pg_temp.calls(2, 3));
select results_eq(
  $$select * from pg_temp.rows_after((select id from mark where name = 'turn'))$$,
  $$values (null::text, '{"model.completed": [1], "tool.started": [2, 3]}'::jsonb)$$, 'a checkpoint writes one row'
);
select results_eq(
  $$select id - (select id * 64 from mark where name = 'turn') > 0, type, payload - 'text' from public.task_events
    where id > (select (id + 1) * 64 - 1 from mark where name = 'turn') order by id$$,
  $$values (true, 'model.completed', '{"step_seq": 1, "name": "m", "tool_calls": []}'::jsonb),
    (true, 'tool.started', '{"step_seq": 2, "name": "look", "call_id": "c2", "server": "desk", "arguments": {"n": 2}}'),
    (true, 'tool.started', '{"step_seq": 3, "name": "look", "call_id": "c3", "server": "desk", "arguments": {"n": 3}}')$$,
  'readers get an event of each step, first of those that ended'
);

select pg_temp.record(
  (pg_temp.calls(2, 2, 'done') || '{"seq": 3, "kind": "tool", "name": "look", "call_id": "c3", "state": "failed",
    "output": {"text": "No.", "error_code": "TOOL_FAILED", "files": [{"path": "a"}]}}'),
  '[{"seq": 4, "kind": "model", "name": "m", "input": {"left_out": {"summary_seq": 1}}}]');
select results_eq(
  'select type, payload from public.task_events order by id desc limit 3',
  $$values ('model.started', '{"step_seq": 4, "name": "m", "left_out": {"summary_seq": 1}}'::jsonb),
    ('tool.failed', '{"step_seq": 3, "name": "look", "call_id": "c3", "text": "No.", "error_code": "TOOL_FAILED", "files": [{"path": "a"}]}'),
    ('tool.completed', '{"step_seq": 2, "name": "look", "call_id": "c2", "text": "It is 2"}')$$,
  'results are in the order of their steps, with what each step has'
);

insert into mark select 'skill', pg_temp.last_row();
select pg_temp.record('[{"seq": 4, "kind": "model", "name": "m", "state": "done", "output": {"text": "", "tool_calls": []}},
    {"seq": 5, "kind": "system", "name": "load_skill", "call_id": "s", "state": "done", "output": {"text": "Secret", "skill_id": "x"}}]',
  '[{"seq": 6, "kind": "model", "name": "m"}]');
select results_eq(
  $$select * from pg_temp.rows_after((select id from mark where name = 'skill'))$$,
  $$values (null, '{"model.completed": [4]}'::jsonb),
    ('skill.loaded', '{"step_seq": 5, "name": "load_skill", "call_id": "s", "skill_id": "x"}'), (null, '{"model.started": [6]}')$$,
  'an event that a step cannot say has its own row, in its place'
);

insert into mark select 'many', pg_temp.last_row();
select pg_temp.record('[{"seq": 6, "kind": "model", "name": "m", "state": "done", "output": {"text": "", "tool_calls": []}}]',
  pg_temp.calls(7, 136));
select results_eq(
  $$select private.event_count(type, payload) from pg_temp.rows_after((select id from mark where name = 'many'))$$,
  'values (64), (64), (3)', 'a row has no more events than ids'
);
select results_eq(
  $$select (payload ->> 'step_seq')::int from public.task_events where type = 'tool.started' order by id desc limit 130$$,
  'select seq from generate_series(136, 7, -1) as seq', 'and their events keep their order'
);
select is((select count(distinct id) from public.task_events), (select count(*) from public.task_events), 'no two events have one id');

select private.delete_untried(task, '[136]') from public.tasks as task;
select is((select payload from public.task_events order by id desc limit 1), '{"step_seq": 136}'::jsonb,
  'the event of a step that was deleted keeps its id, type and number');

create function pg_temp.after(p_cursor text) returns jsonb language sql as $$
  select private.event_page(task, p_cursor, 1000, 32768) -> 'events' -> 0 -> 'id' from public.tasks as task
$$;
select is(
  (select pg_temp.after(id::text) from mark where name = 'many'),
  (select to_jsonb(min(id)) from public.task_events where id >= (select (id + 1) * 64 from mark where name = 'many')),
  'a cursor with ids of rows goes on after the row'
);
select is(
  (select pg_temp.after('.' || id * 64 + 69) from mark where name = 'many'),
  (select to_jsonb(id * 64 + 70) from mark where name = 'many'), 'a cursor ends between two events of a row'
);

select * from finish();
rollback;
