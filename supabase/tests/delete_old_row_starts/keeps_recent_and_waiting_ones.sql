begin;
set local search_path = public, extensions;
select plan(2);

select tests.create_row_trigger('{"events": ["insert"]}');
insert into public.orders (id) select generate_series(1, 4);
update private.row_starts
set due_at = now() - case row_key when '4' then interval '9 days' else '11 days' end, error = case when row_key <> '1' then '{"code": "INTERNAL"}'::jsonb end;
select is(private.delete_old_row_starts(10), 2, 'starts that failed long ago are deleted');
select results_eq('select row_key from private.row_starts order by id', array['1', '4'], 'others stay');

select * from finish();
rollback;
