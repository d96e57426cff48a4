begin;
set local search_path = public, extensions;
select plan(2);

select private.configure_project_url('http://127.0.0.1:1');
insert into public.projects (id, slug, github_repo) values (md5('project')::uuid, 'one', 'org/one');
delete from net.http_request_queue;
update private.wake_gate set last_wake_at = '-infinity';

select tests.create_task();
set constraints all immediate;
select private.request_sync('one');

select bag_eq(
  $$select regexp_replace(url, '^.*/', '') from net.http_request_queue$$, $$values ('supaswarm-worker'), ('quoth-sync')$$,
  'a wake-up for tasks does not debounce the next one for syncs'
);
select is(
  (select count(*) from private.wake_gate where last_wake_at > '-infinity')::int, 3, 'each function and each channel has its own gate'
);

select * from finish();
rollback;
