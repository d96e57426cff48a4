begin;
set local search_path = public, extensions;
select plan(5);

insert into public.projects (id, slug, github_repo) values (md5('project')::uuid, 'one', 'org/one');
create temp table made on commit drop as select sync_id from private.request_sync('one');
create temp table first on commit drop as select epoch from private.claim_sync('w1', 60);
select is((select count(*) from first), 1::bigint, 'a worker claims it');
update public.quoth_syncs set lease_expires_at = clock_timestamp() - interval '1 second';
select cmp_ok((select epoch from first), '<', (select epoch from private.claim_sync('w2', 300)), 'its lease expires, and another worker claims it');

select throws_ok(
  $$ select private.plan_sync((select sync_id from made), (select epoch from first), 60, 'c1', '[]', 1) $$, 'PT409', null,
  'the first worker can no longer write'
);
select is((select commit_sha from public.quoth_syncs), null, 'the first worker has changed nothing');
select ok(
  (select lease_expires_at > clock_timestamp() + interval '290 seconds' from public.quoth_syncs), 'the first worker did not shorten the lease'
);

select * from finish();
rollback;
