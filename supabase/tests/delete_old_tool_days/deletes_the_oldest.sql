begin;
set local search_path = public, extensions;
select plan(3);

insert into public.tool_days (day, mcp_name, tool_name, duration_ms, call_count)
select (now() at time zone 'utc')::date - n, 'notes', 'search', 1, 1 from unnest('{89, 90, 91, 92}'::int[]) as n;

select is(private.delete_old_tool_days(1), 1, 'no more than the requested number is deleted');
select private.delete_old();
select is((select count(*)::int from public.tool_days), 2, 'sums stay for 90 days by default');
insert into private.settings (key, value) values ('keep_tool_days', '89');
select is(private.delete_old_tool_days(10), 1, 'or as long as the setting says');

select * from finish();
rollback;
