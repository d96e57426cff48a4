-- Forks and the tasks that they came from.

create table private.task_forks (
  fork_id uuid primary key references public.tasks (id) on delete cascade,
  -- No foreign key: a fork can outlive its source task.
  source_task_id uuid not null,
  from_seq int not null,
  created_at timestamptz not null default now()
);
create index task_forks_source_task_id_idx on private.task_forks (source_task_id, fork_id);
comment on table private.task_forks is 'Forks, each with the task and the step from which it continues.';
comment on column private.task_forks.from_seq is 'The fork has the source''s steps before this one.';
alter table private.task_forks enable row level security;
