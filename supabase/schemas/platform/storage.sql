-- Files of tasks. Only the service writes them; the owner of a job reads its folder and the files that its
-- tasks refer to.

insert into storage.buckets (id, name, public)
values ('supaswarm-data', 'supaswarm-data', false), ('supaswarm-exports', 'supaswarm-exports', false)
on conflict (id) do nothing;

create function private.id_of_folder(p_object_name text)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return substring(p_object_name from '^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/')::uuid;
end;
$$;
comment on function private.id_of_folder(text) is
  'The id of the job or user in whose folder {id}/ an object is; null for other names.';

create function private.is_own_job_file(p_object_name text)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_job_id constant uuid := private.id_of_folder(p_object_name);
begin
  if not private.has_scope('swarm:run') then
    return false;
  end if;
  return exists (
    select from public.tasks where id = v_job_id and parent_id is null and created_by = auth.uid()
  )
  -- A fork refers to files of its original job, which may be deleted.
  or exists (
    select from public.tasks
    where storage_paths @> array[p_object_name] and storage_paths <> '{}' and created_by = auth.uid()
  );
end;
$$;
comment on function private.is_own_job_file(text) is
  'True when an object''s path {master_task_id}/{task_id}/{filename} is in a job that the caller owns, or when one of the caller''s tasks refers to it. Called by policies on storage.objects. Definer: with row level security, Postgres could not use the index of paths; the function reads only the caller''s own tasks.';
grant execute on function private.is_own_job_file(text) to authenticated;

create policy "owners read the files of their jobs" on storage.objects
  for select to authenticated
  using (bucket_id = 'supaswarm-data' and private.is_own_job_file(name));
