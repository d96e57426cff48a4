-- Files of tasks. Only the service writes; the owner of a job reads its folder.

insert into storage.buckets (id, name, public)
values ('supaswarm-data', 'supaswarm-data', false), ('supaswarm-exports', 'supaswarm-exports', false)
on conflict (id) do nothing;

create function private.is_own_job_folder(p_object_name text)
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  select exists (
    select from public.tasks as task
    where task.id = substring(
        is_own_job_folder.p_object_name
        from '^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/'
      )::uuid
      and task.parent_id is null
      and task.created_by = (select auth.uid())
  );
$$;
comment on function private.is_own_job_folder(text) is
  'True when an object''s path {master_task_id}/{task_id}/{filename} is in a job that the caller owns. Called by policies on storage.objects.';
revoke all on function private.is_own_job_folder(text) from public;
grant execute on function private.is_own_job_folder(text) to authenticated;

create policy "owners read the files of their jobs" on storage.objects
  for select to authenticated
  using (bucket_id = 'supaswarm-data' and private.is_own_job_folder(name));
