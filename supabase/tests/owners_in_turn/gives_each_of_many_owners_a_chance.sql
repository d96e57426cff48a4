begin;
set local search_path = public, extensions;
select plan(3);

select tests.create_task(p_owner => 'owner ' || n) from generate_series(1, 100) as n;
create temporary table turn on commit drop as
select claim, owner.owner_key
from generate_series(1, 20) as claim
cross join lateral private.owners_in_turn(1000 + claim - claim, true) as owner;

select is(
  (select array_agg(distinct owner_count) from (select count(*) as owner_count from turn group by claim) as read),
  array[64::bigint], 'a claim considers 64 owners, wherever it starts'
);
select is(
  (select count(*) from (select distinct claim, owner_key from turn) as read), 1280::bigint, 'no owner is considered twice');
select is((select count(distinct owner_key) from turn), 100::bigint, 'each owner is considered by some claim');

select * from finish();
rollback;
