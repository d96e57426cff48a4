begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as
  select n, private.new_id() as id, clock_timestamp() as at from generate_series(1, 1000) as n;

select is(count(distinct id), 1000::bigint, 'all ids are distinct') from made;
select ok(bool_and(substr(id::text, 15, 1) = '7' and substr(id::text, 20, 1) in ('8', '9', 'a', 'b')), 'ids have version 7 and variant 1')
from made;
select ok(
  bool_and(id between private.first_id_of(at - interval '1 second') and private.first_id_of(at + interval '1 second')),
  'an id contains its time'
)
from made;
select ok(
  (select bool_and(left(id::text, 13) >= earlier) from (
    select id, lag(left(id::text, 13)) over (order by n) as earlier from made
  ) as next),
  'apart from the random part, ids do not decrease'
);
select is(
  left(private.first_id_of('2026-11-23T00:00:00.123Z')::text, 13), '01a205b3-d07b',
  'the first id of a time is that of its millisecond'
);

select * from finish();
rollback;
