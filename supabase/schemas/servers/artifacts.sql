-- Data and files that the tasks of one job stored, for the job's agents.

create function private.list_job_artifacts(p_task_id uuid)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'task_id', task.id,
    'agent', task.agent_slug,
    'status', task.status,
    'data', (
      select coalesce(jsonb_agg(jsonb_build_object('key', entry.key, 'bytes', octet_length(entry.value::text))
        order by entry.key), '[]')
      from jsonb_each(task.intermediate_data) as entry
    ),
    'files', to_jsonb(task.storage_paths)
  ) order by task.created_at, task.id), '[]')
  from public.tasks own
  join public.tasks task on task.master_task_id = own.master_task_id
  where own.id = p_task_id
    and (task.id = own.id or task.intermediate_data <> '{}' or task.storage_paths <> '{}');
$$;
comment on function private.list_job_artifacts(uuid) is
  'Keys of intermediate data and paths of files of every task in the job of p_task_id. Called by the internal tool server artifacts.';

create function private.read_job_data(p_task_id uuid, p_owner_task_id uuid, p_key text)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select task.intermediate_data -> p_key
  from public.tasks own
  join public.tasks task on task.master_task_id = own.master_task_id
  where own.id = p_task_id and task.id = p_owner_task_id;
$$;
comment on function private.read_job_data(uuid, uuid, text) is
  'One value of intermediate data of a task in the same job as p_task_id; null when there is none. Called by the internal tool server artifacts.';

create function private.is_job_file(p_task_id uuid, p_path text)
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select 1
    from public.tasks own
    join public.tasks task on task.master_task_id = own.master_task_id
    where own.id = p_task_id and p_path = any (task.storage_paths)
  );
$$;
comment on function private.is_job_file(uuid, text) is
  'True when a task in the same job as p_task_id stored this path in the bucket supaswarm-data. Called by the internal tool server artifacts.';
