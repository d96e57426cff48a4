begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_family(1) as id;
select private.park_task((select id from made), 1);
select tests.claim(tests.create_task());
select is_empty('select * from public.stuck_tasks', 'nothing is stuck that has just begun');

set constraints all immediate;
alter table public.tasks disable trigger user;
update public.tasks set updated_at = now() - interval '1 hour', lease_expires_at = lease_expires_at - interval '1 hour'
where status = 'running' and parent_id is null;
update public.tasks set status = 'pending', message_id = null, lease_expires_at = null, worker_id = null, updated_at = now() - interval '1 hour'
where parent_id is not null;
select bag_eq(
  'select status, reason from public.stuck_tasks',
  $$values ('running', 'lease_expired'), ('pending', 'no_message')$$,
  'each says why'
);

select * from finish();
rollback;
