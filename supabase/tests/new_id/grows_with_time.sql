begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as
  select n, private.new_id() as id, clock_timestamp() as at from generate_series(1, 1000) as n;

select is(count(distinct id), 1000::bigint, 'each is another one') from made;
select ok(bool_and(substr(id::text, 15, 1) = '7' and substr(id::text, 20, 1) in ('8', '9', 'a', 'b')), 'version 7, variant 1')
from made;
select ok(bool_and(abs(extract(epoch from at - private.time_of_id(id))) < 1), 'an id holds its time') from made;
select ok(
  (select bool_and(left(id::text, 13) >= earlier) from (
    select id, lag(left(id::text, 13)) over (order by n) as earlier from made
  ) as next),
  'the next one is not smaller, but for its random part'
);
select is(
  private.time_of_id(private.first_id_of('2026-11-23T00:00:00.123Z')), '2026-11-23T00:00:00.123Z'::timestamptz,
  'the first id of a time is that of its millisecond'
);

select * from finish();
rollback;
