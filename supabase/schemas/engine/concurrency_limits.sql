-- Limits for each concurrency key. Limits per user are quotas.

create table private.concurrency_limits (
  concurrency_key text primary key,
  max_running int not null check (max_running >= 0)
);
comment on table private.concurrency_limits is
  'How many tasks of one owner with the same concurrency_key may run at the same time. A key without a row has no limit. Written by the operator; for limits per user see quotas.';
comment on column private.concurrency_limits.concurrency_key is '* stands for every key without its own row.';
comment on column private.concurrency_limits.max_running is 'Zero stops tasks with this key from starting.';
alter table private.concurrency_limits enable row level security;
grant select on private.concurrency_limits to service_role;
