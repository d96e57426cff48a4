begin;
set local search_path = public, extensions;
select plan(5);

select private.configure_project_url('http://127.0.0.1:1');
insert into public.projects (id, slug, github_repo) values (md5('project')::uuid, 'one', 'org/one');
create function pg_temp.woken() returns text[] language plpgsql as $$
declare
  v_woken text[];
begin
  set constraints all immediate;
  delete from net.http_request_queue;
  perform private.tick();
  select array_agg(regexp_replace(url, '^.*/', '') order by url) into v_woken from net.http_request_queue;
  return v_woken;
end
$$;

select is(pg_temp.woken(), null, 'without work nothing is woken');
create temp table made on commit drop as select sync_id from private.request_sync('one');
select is(pg_temp.woken(), array['quoth-sync'], 'a sync whose wake-up was lost is found');
select private.claim_sync('w1', 60);
select is(pg_temp.woken(), null, 'a running sync wakes nothing');
select private.fail_sync((select sync_id from made), (select epoch from public.quoth_syncs where id = (select sync_id from made)), '{"code": "X"}', true, 600);
select is(pg_temp.woken(), null, 'a sync that waits for its time wakes nothing');
update public.quoth_syncs set run_after = clock_timestamp();
select tests.create_task();
select is(pg_temp.woken(), array['quoth-sync', 'supaswarm-worker'], 'each kind wakes its own workers');

select * from finish();
rollback;
