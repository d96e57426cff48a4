begin;
set local search_path = public, extensions;
select plan(8);

create temp table made on commit drop as select tests.create_family(3) as id;
select private.park_task(id, tests.epoch_of(id)) from made;
select count(*) from private.claim_tasks('w1', 3, 30, true);
create temp table page (n int, content jsonb) on commit drop;
grant all on made, page to authenticated, service_role;
-- Reads pages of the size until there is no more, and returns the cursor.
create function pg_temp.read_all(p_cursor text, p_limit int, p_max_data_bytes int default 32768) returns text language plpgsql as $$
declare
  v_page jsonb;
  v_cursor text := p_cursor;
begin
  delete from page;
  loop
    v_page := public.read_events((select id from made), v_cursor, p_limit, p_max_data_bytes);
    insert into page values ((select count(*) from page), v_page);
    v_cursor := v_page ->> 'next_cursor';
    exit when not (v_page ->> 'has_more')::boolean;
  end loop;
  return v_cursor;
end;
$$;
create function pg_temp.ids() returns setof bigint language sql as $$
  select (event ->> 'id')::bigint from page, jsonb_array_elements(content -> 'events') as event order by n, 1;
$$;
create temp table cursor (value text) on commit drop;
grant all on cursor to authenticated;

select tests.act_as_user('owner');
insert into cursor select pg_temp.read_all(null, 2);
select results_eq('select pg_temp.ids()', 'select id from public.task_events order by id', 'pages of two contain every event once');
insert into page values (99, public.read_events((select id from made), (select value from cursor)));
select is((select content -> 'events' from page where n = 99), '[]', 'the last cursor returns nothing');

select tests.act_as_nobody();
select private.fail_task(id, tests.epoch_of(id), '{"code": "X"}', 'never') from public.tasks where parent_id = (select id from made) order by id limit 1;
select tests.act_as_user('owner');
select pg_temp.read_all((select value from cursor), 200);
select is(
  (select array_agg(event ->> 'type') from page, jsonb_array_elements(content -> 'events') as event),
  array['task.failed', 'subtask.finished'], 'later it returns what has happened since'
);

select pg_temp.read_all('', 200, 10);
select is(
  (select max(length(event -> 'data' ->> 'cut')) from page, jsonb_array_elements(content -> 'events') as event), 10,
  'long data is cut'
);
select tests.act_as_nobody();
insert into private.task_events (task_id, master_task_id, type, payload)
select id, id, 'data.saved', jsonb_build_object('text', repeat('x', 400000)) from made, generate_series(1, 5);
select pg_temp.read_all('', 200, 1048576);
select is(
  (select array_agg(jsonb_array_length(content -> 'events') order by n) from page),
  array[(select count(*)::int - 3 from public.task_events), 2, 1], 'a page has at most a MiB'
);

select is(
  (public.read_events((select id from public.tasks where parent_id is not null limit 1), null, 1000) -> 'events'),
  (
    select jsonb_agg(jsonb_build_object('id', id, 'task_id', task_id, 'type', type, 'at', at, 'data', payload) order by id)
    from public.task_events
    where task_id = (select id from public.tasks where parent_id is not null limit 1)
  ), 'for a subtask it returns only the events of that task'
);
select is(
  (select array_agg(distinct tests.code_of(format('select public.read_events(%L, %L)', made.id, malformed)))
    from made, unnest(array['x', '-1', '1.2', '1.2.3', '1..2.3', ' 1', '1.5.5.', repeat('9', 19), '1.1.1.1e3', '.', '..1', '.1.2']) as malformed),
  array['QUERY_INVALID'], 'a malformed cursor is refused'
);
select is(
  (select array_agg(tests.code_of(format('select public.read_events(%L, null, %s)', made.id, arguments)))
    from made, unnest(array['0', '1001', '1, -1', '1, 1048577']) as arguments),
  array['QUERY_INVALID', 'QUERY_INVALID', 'QUERY_INVALID', 'QUERY_INVALID'], 'limits out of range are refused'
);

select * from finish();
rollback;
