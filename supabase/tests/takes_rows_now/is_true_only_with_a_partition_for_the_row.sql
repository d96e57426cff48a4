begin;
set local search_path = public, extensions;
select plan(7);

create table tests.messages (inserted_at timestamp not null default now()) partition by range (inserted_at);
create function pg_temp.add_partition(p_name text, p_from text, p_to text) returns void language plpgsql as $$
begin
  execute format('create table tests.%I partition of tests.messages for values from (%s) to (%s)', p_name, p_from, p_to);
end;
$$;

select ok(not private.takes_rows_now('tests.messages'), 'a table without a partition is refused');
select pg_temp.add_partition('ended', quote_literal(current_date - 1), quote_literal(localtimestamp));
select ok(private.takes_rows_now('tests.messages') is false, 'a partition that has just ended does not count');
select pg_temp.add_partition('later', quote_literal(current_date + 1), quote_literal(current_date + 2));
select ok(not private.takes_rows_now('tests.messages'), 'a partition of tomorrow does not count');

select pg_temp.add_partition('today', quote_literal(localtimestamp), quote_literal(current_date + 1));
select ok(private.takes_rows_now('tests.messages'), 'a current partition counts');
insert into tests.messages default values;
drop table tests.today;
select pg_temp.add_partition('rest', quote_literal(current_date + 2), 'MAXVALUE');
select ok(not private.takes_rows_now('tests.messages'), 'a partition for all later rows does not count');
create table tests.others partition of tests.messages default;
select ok(private.takes_rows_now('tests.messages'), 'the default partition counts');
select ok(private.takes_rows_now('public.tasks'), 'a table without partitions accepts rows');

select * from finish();
rollback;
