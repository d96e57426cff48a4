begin;
set local search_path = public, extensions;
select plan(7);

create table tests.messages (inserted_at timestamp not null default now()) partition by range (inserted_at);
create function pg_temp.add_partition(p_name text, p_from text, p_to text) returns void language plpgsql as $$
begin
  execute format('create table tests.%I partition of tests.messages for values from (%s) to (%s)', p_name, p_from, p_to);
end;
$$;

select ok(not private.takes_rows_now('tests.messages'), 'not without a partition');
select pg_temp.add_partition('ended', quote_literal(current_date - 1), quote_literal(localtimestamp));
select ok(private.takes_rows_now('tests.messages') is false, 'not with one that has just ended');
select pg_temp.add_partition('later', quote_literal(current_date + 1), quote_literal(current_date + 2));
select ok(not private.takes_rows_now('tests.messages'), 'nor with one of tomorrow');

select pg_temp.add_partition('today', quote_literal(localtimestamp), quote_literal(current_date + 1));
select ok(private.takes_rows_now('tests.messages'), 'with one of this moment');
insert into tests.messages default values;
drop table tests.today;
select pg_temp.add_partition('rest', quote_literal(current_date + 2), 'MAXVALUE');
select ok(not private.takes_rows_now('tests.messages'), 'not with one of all that is later');
create table tests.others partition of tests.messages default;
select ok(private.takes_rows_now('tests.messages'), 'with one for whatever has no other');
select ok(private.takes_rows_now('public.tasks'), 'and where a table has no partitions');

select * from finish();
rollback;
