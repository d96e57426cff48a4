begin;
set local search_path = public, extensions;
select plan(7);

insert into public.projects (id, slug, github_repo) values (md5('project')::uuid, 'one', 'org/one');
create temp table made on commit drop as select sync_id from private.request_sync('one');
create function pg_temp.fail(p_retryable boolean, p_seconds numeric default null) returns text language plpgsql as $$
declare
  v_epoch bigint;
begin
  update public.quoth_syncs set run_after = null;
  select epoch into v_epoch from private.claim_sync('w1', 60);
  return private.fail_sync((select sync_id from made), v_epoch, '{"code": "X"}', p_retryable, p_seconds);
end
$$;
create function pg_temp.waits() returns numeric language sql as $$
  select extract(epoch from run_after - clock_timestamp()) from public.quoth_syncs
$$;

select is(pg_temp.fail(true, 600), 'pending', 'a sync asked to wait is pending');
select ok(pg_temp.waits() between 590 and 600, 'it waits as long as requested');
select is((select attempts from public.quoth_syncs), 0, 'a requested wait does not count as an attempt');
select is(pg_temp.fail(true), 'pending', 'a failed sync is retried');
select ok(pg_temp.waits() between 10 and 30, 'the first retry is soon');
select is(
  array[pg_temp.fail(true), pg_temp.fail(true), pg_temp.fail(true), pg_temp.fail(true), pg_temp.fail(true), pg_temp.fail(true)],
  array['pending', 'pending', 'pending', 'pending', 'pending', 'failed'], 'after six attempts the sync fails'
);
select is((select error ->> 'code' from public.quoth_syncs), 'X', 'the reason is stored');

select * from finish();
rollback;
