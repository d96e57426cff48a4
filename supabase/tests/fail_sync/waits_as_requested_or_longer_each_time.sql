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

select is(pg_temp.fail(true, 600), 'pending', 'asked to wait, it waits');
select ok(pg_temp.waits() between 590 and 600, 'as long as requested');
select is((select attempts from public.quoth_syncs), 0, 'which is no attempt');
select is(pg_temp.fail(true), 'pending', 'a failure is tried again');
select ok(pg_temp.waits() between 10 and 30, 'soon at first');
select is(
  array[pg_temp.fail(true), pg_temp.fail(true), pg_temp.fail(true), pg_temp.fail(true), pg_temp.fail(true), pg_temp.fail(true)],
  array['pending', 'pending', 'pending', 'pending', 'pending', 'failed'], 'and after six attempts no more'
);
select is((select error ->> 'code' from public.quoth_syncs), 'X', 'the reason stays');

select * from finish();
rollback;
