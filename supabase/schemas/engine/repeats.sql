-- Jobs that were created to do what an earlier one did, each with its source.

create table private.task_repeats (
  repeat_id uuid primary key references public.tasks (id) on delete cascade,
  -- No foreign key: a repeat can outlive its source.
  source_task_id uuid not null,
  created_at timestamptz not null default now()
);
create index task_repeats_source_task_id_idx on private.task_repeats (source_task_id, repeat_id);
comment on table private.task_repeats is 'Jobs that repeat another task with its input, or a changed one. Written by request_task().';
alter table private.task_repeats enable row level security;

create function private.assert_may_repeat(p_user_id uuid, p_source_task_id uuid)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if not exists (
    select from public.tasks as source where source.id = p_source_task_id and source.created_by is not distinct from p_user_id
  ) then
    perform private.raise_error('TASK_NOT_FOUND', format('Cannot create the task: the task %s of repeat_of does not exist', p_source_task_id),
      'Name one of your own tasks, or omit repeat_of.');
  end if;
end;
$$;
comment on function private.assert_may_repeat(uuid, uuid) is
  'Raises TASK_NOT_FOUND unless the task belongs to the user (null: the service).';

create function private.list_repeats(p_task_id uuid, p_limit int)
returns setof private.task_repeats
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.readable_task(p_task_id);
begin
  perform private.assert_page_limit('list the repeats', p_limit);
  return query
    select known.* from private.task_repeats as known
    where v_task.id in (known.source_task_id, known.repeat_id)
    order by known.repeat_id <> v_task.id, known.repeat_id
    limit p_limit;
end;
$$;
comment on function private.list_repeats(uuid, int) is
  'See public.list_repeats(). Definer: users may not read task_repeats; readable_task() checks the caller.';

create function public.list_repeats(p_task_id uuid, p_limit int default 100)
returns table (repeat_id uuid, source_task_id uuid, created_at timestamptz)
language sql
stable
set search_path = ''
as $$
  select known.repeat_id, known.source_task_id, known.created_at from private.list_repeats(p_task_id, p_limit) as known;
$$;
comment on function public.list_repeats(uuid, int) is
  'What a job repeats, first, and the jobs that repeat it, oldest first: each names the repeat and its source. For the owner, the owner''s OAuth clients with the scope swarm:run, operators who opened the job, and the service. Raises TASK_NOT_FOUND, JOB_NOT_OPENED, QUERY_INVALID, INSUFFICIENT_SCOPE.';
revoke all on function public.list_repeats(uuid, int) from public, anon, authenticated, service_role;
grant execute on function private.list_repeats(uuid, int), public.list_repeats(uuid, int) to authenticated, service_role;
