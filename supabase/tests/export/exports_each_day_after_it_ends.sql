begin;
set local search_path = public, extensions;
select plan(12);

create temp table today on commit drop as select (clock_timestamp() at time zone 'utc')::date as day;
create function pg_temp.due(p_from date default null, p_today boolean default false)
returns text language sql as $$
  select string_agg(item ->> 'kind' || ' ' || ((item ->> 'day')::date - (select day from today)), ', ')
  from jsonb_array_elements(private.days_to_export(p_from, p_today)) as item
$$;
-- The last complete day: yesterday, except during the first quarter of an hour.
create temp table closed on commit drop as select private.last_day_to_export() as day;

update private.exports set exported_until = (select day from closed) + 1;
select is(pg_temp.due(), null, 'nothing is due when every day is exported');
select is(right(pg_temp.due(p_today => true), 22), 'failures 0, feedback 0', 'today is exported on request');
update private.exports set exported_until = (select day from closed) - 1;
select is(
  (select count(*)::int from jsonb_array_elements(private.days_to_export())), 4, 'two missed days of two kinds are due'
);
select is(
  private.days_to_export() -> 0 ->> 'day', ((select day from closed) - 1)::text, 'the oldest comes first'
);
select is(
  (select count(*)::int from jsonb_array_elements(private.days_to_export('2020-01-01'))), 124, 'at most 62 days are exported at once'
);

select private.mark_exported('feedback', (select day from closed));
select is(
  (select exported_until from private.exports where kind = 'feedback'), (select day from closed) - 1,
  'a day is not marked before the previous one'
);
select private.mark_exported('feedback', (select day from closed) - 1), private.mark_exported('feedback', (select day from closed) - 1);
select is(
  (select exported_until from private.exports where kind = 'feedback'), (select day from closed),
  'a day that is written twice counts once'
);
select private.mark_exported('feedback', (select day from closed)), private.mark_exported('feedback', (select day from closed) + 1);
select is(
  (select exported_until from private.exports where kind = 'feedback'), (select day from closed) + 1,
  'a day that is not over stays due'
);

insert into public.mcp_executions (id, mcp_name, tool_name, execution_time_ms, status, error_message, request_data)
select md5('call ' || n)::uuid, 'notes', 'search', 1, 'error', 'It broke', '{"api_key": "k", "q": "x"}'
from generate_series(1, 5) as n;
insert into public.mcp_failures (id, execution_id, error_type, created_at)
select md5('failure ' || n)::uuid, md5('call ' || n)::uuid, 'tool_error',
  case when n = 5 then timestamptz '2026-01-03 00:00:00Z' else timestamptz '2026-01-02 23:59:59.123456Z' end
from generate_series(1, 5) as n;
create function pg_temp.pages(p_limit int)
returns setof uuid language plpgsql as $$
declare
  v_row record;
  v_at text;
  v_id uuid;
begin
  loop
    v_row := null;
    for v_row in select * from private.export_page('failures', '2026-01-02', v_at, v_id, p_limit) loop
      return next v_row.id;
      v_at := v_row.at;
      v_id := v_row.id;
    end loop;
    exit when v_row is null;
  end loop;
end;
$$;
select is((select count(*)::int from pg_temp.pages(3)), 4, 'pages split rows of the same microsecond');
select is((select count(distinct id)::int from pg_temp.pages(1) as id), 4, 'pages repeat no row');
select is(
  (select entry -> 'arguments' from private.export_page('failures', '2026-01-03', null, null, 10)),
  '{"api_key": "<redacted>", "q": "x"}'::jsonb, 'the value of a key that names a secret is redacted'
);
select ok(
  (select bool_and(entry ?& array['failure_id', 'failed_at', 'tool_name', 'agent', 'rating', 'comment'])
    from private.export_page('failures', '2026-01-02', null, null, 10)),
  'an entry has the fields that a reviewer needs'
);

select * from finish();
rollback;
