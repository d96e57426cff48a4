begin;
set local search_path = public, extensions;
select plan(2);

insert into public.projects (id, slug, github_repo) values (md5('project')::uuid, 'one', 'org/one');
create temp table made on commit drop as select sync_id from private.request_sync('one');
create function pg_temp.die() returns int language plpgsql as $$
declare
  v_claims int := 0;
begin
  for death in 1..7 loop
    v_claims := v_claims + (select count(*) from private.claim_sync('w' || death, 60));
    update public.quoth_syncs set lease_expires_at = clock_timestamp() - interval '1 second' where status = 'running';
  end loop;
  return v_claims;
end
$$;

select is(pg_temp.die(), 5, 'it is claimed five times');
select is(
  (select array[status, error ->> 'code'] from public.quoth_syncs), array['failed', 'SYNC_DELIVERIES_EXCEEDED'],
  'then it fails with the reason'
);

select * from finish();
rollback;
