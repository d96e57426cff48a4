begin;
set local search_path = public, extensions;
select plan(3);

select tests.create_task(p_owner => 'owner ' || n) from generate_series(1, 150) as n;
create temporary table turn on commit drop as
select claim, owner.owner_key
from generate_series(1, 20) as claim
cross join lateral private.owners_in_turn(1000 + claim - claim, true) as owner;

select is(
  (select array_agg(distinct owner_count) from (select count(*) as owner_count from turn group by claim) as read),
  array[100::bigint], 'a claim considers 100 owners, wherever it starts'
);
select is(
  (select count(*) from (select distinct claim, owner_key from turn) as read), 2000::bigint, 'no owner is considered twice');
select is((select count(distinct owner_key) from turn), 150::bigint, 'each owner is considered by some claim');

select * from finish();
rollback;
