-- Files that users give to tasks: users upload them to their own folder in supaswarm-data and name them in
-- input.files.

-- Storage applies this limit to every object. The files of a task together may have fewer bytes.
update storage.buckets set file_size_limit = 20971520 where id = 'supaswarm-data';

create table private.file_types (
  extension text primary key check (extension = lower(extension)),
  media_type text not null
);
comment on table private.file_types is
  'File types that users may upload, by file extension, and the media type as which a model reads them: images, PDF, and text (text/…). Operators may add text types.';
alter table private.file_types enable row level security;
grant select on private.file_types to service_role;
insert into private.file_types (extension, media_type)
select unnest(endings), media_type
from (values
  ('{png}'::text[], 'image/png'),
  ('{jpg,jpeg}', 'image/jpeg'),
  ('{gif}', 'image/gif'),
  ('{webp}', 'image/webp'),
  ('{pdf}', 'application/pdf'),
  ('{md,markdown}', 'text/markdown'),
  ('{csv,tsv}', 'text/csv'),
  ('{html,htm}', 'text/html'),
  ('{txt,text,log,json,jsonl,xml,yaml,yml,toml,ini,sql,js,ts,py,java,go,rs,c,h,cpp,cs,rb,php,sh,css}', 'text/plain')
) as kind (endings, media_type);

create function private.media_type_of(p_path text)
returns text
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select media_type from private.file_types
    where extension = lower(substring(p_path from '\.([A-Za-z0-9]{1,10})$'))
  );
end;
$$;
comment on function private.media_type_of(text) is 'The media type as which a model reads a file, by its file extension; null for a type that tasks do not accept.';

create function private.is_own_upload(p_object_name text)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return split_part(p_object_name, '/', 1) = auth.uid()::text and private.has_scope('swarm:run');
end;
$$;
comment on function private.is_own_upload(text) is
  'True for an object in the caller''s folder {user_id}/; an OAuth client needs the scope swarm:run. Called by policies on storage.objects. Definer: users may not execute the functions that it calls.';
grant execute on function private.is_own_upload(text) to authenticated;

create function private.uploads_of(p_user_id uuid)
returns table (path text, size_bytes bigint)
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    select object.name, (object.metadata ->> 'size')::bigint
    from storage.objects as object
    -- Every name that begins with "{user_id}/", since "0" follows "/". Unlike LIKE, this range uses the index of
    -- names also in a plan that does not know the user.
    where object.name ~>=~ (p_user_id::text || '/') and object.name ~<~ (p_user_id::text || '0')
      and object.bucket_id = 'supaswarm-data';
end;
$$;
comment on function private.uploads_of(uuid) is 'The files in a user''s own folder, and their sizes.';

create function private.uploaded_bytes(p_user_id uuid)
returns bigint
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce((select sum(upload.size_bytes)::bigint from private.uploads_of(p_user_id) as upload), 0);
end;
$$;
comment on function private.uploaded_bytes(uuid) is 'How many bytes the files in a user''s own folder have.';

create function private.upload_bytes_left(p_user_id uuid)
returns bigint
language plpgsql
stable
set search_path = ''
as $$
begin
  return private.stored_bytes_left(p_user_id) - private.uploaded_bytes(p_user_id);
end;
$$;
comment on function private.upload_bytes_left(uuid) is
  'Bytes that a user may still store in their own folder, after subtracting what their tasks have stored; null when there is no limit.';

create function private.assert_may_keep_file(p_user_id uuid, p_byte_count bigint)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if private.upload_bytes_left(p_user_id) < p_byte_count then
    perform private.raise_quota_exceeded(format('store %s bytes', p_byte_count), 'stored_bytes',
      private.quota('stored_bytes', p_user_id), 3600, ', when files or old jobs have been deleted');
  end if;
end;
$$;
comment on function private.assert_may_keep_file(uuid, bigint) is
  'Raises QUOTA_EXCEEDED when a user may not store p_byte_count more bytes in their own folder. Called by the SQL tools before they store an export.';

create function private.may_upload(p_object_name text)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_left constant bigint := private.upload_bytes_left(auth.uid());
begin
  return private.is_own_upload(p_object_name)
    and not private.is_agent_call()
    and length(p_object_name) <= 500
    and p_object_name !~ '(^|/)\.{0,2}(/|$)'
    and private.media_type_of(p_object_name) is not null
    and (v_left is null or v_left > 0)
    -- A token outlives its account, whose files have been listed for removal.
    and exists (select from auth.users where id = auth.uid());
end;
$$;
comment on function private.may_upload(text) is
  'True for a name in the caller''s own folder with a file extension in private.file_types, while earlier uploads leave room in the quota stored_bytes. Never for an agent. Called by policies on storage.objects. Definer: users may not read the data that the check needs.';
grant execute on function private.may_upload(text) to authenticated;

create function private.may_delete_upload(p_object_name text)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return private.is_own_upload(p_object_name) and not private.is_agent_call();
end;
$$;
comment on function private.may_delete_upload(text) is
  'True for an object in the caller''s own folder; never for an agent. Called by policies on storage.objects. Definer: users may not execute the functions that it calls.';
grant execute on function private.may_delete_upload(text) to authenticated;

create policy "users read what they uploaded" on storage.objects
  for select to authenticated
  using (bucket_id = 'supaswarm-data' and private.is_own_upload(name));
create policy "users upload into their own folder" on storage.objects
  for insert to authenticated
  with check (bucket_id = 'supaswarm-data' and private.may_upload(name));
create policy "users replace what they uploaded" on storage.objects
  for update to authenticated
  using (bucket_id = 'supaswarm-data' and private.may_upload(name))
  with check (bucket_id = 'supaswarm-data' and private.may_upload(name));
create policy "users delete what they uploaded" on storage.objects
  for delete to authenticated
  using (bucket_id = 'supaswarm-data' and private.may_delete_upload(name));

create function private.account_of_folder(p_object_name text)
returns uuid
language plpgsql
stable
set search_path = ''
as $$
begin
  return (select id from auth.users where id = private.id_of_folder(p_object_name));
end;
$$;
comment on function private.account_of_folder(text) is
  'The user in whose own folder an object is; null for other folders and for removed users.';

create function private.debit_stored_file()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_owner constant uuid := private.account_of_folder(new.name);
  v_size constant bigint := (new.metadata ->> 'size')::bigint;
  -- An upsert of an existing file comes as an insert.
  v_replaced constant bigint := coalesce((
    select (object.metadata ->> 'size')::bigint
    from storage.objects as object
    where object.bucket_id = new.bucket_id and object.name = case
      when tg_op = 'UPDATE' and split_part(old.name, '/', 1) = split_part(new.name, '/', 1) then old.name
      else new.name
    end
  ), 0);
begin
  if v_owner is null or v_size <= v_replaced then
    return new;
  end if;
  -- Uploads of one owner that end at the same time are counted one after the other.
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:stored_bytes:' || v_owner, 0));
  if private.upload_bytes_left(v_owner) < v_size - v_replaced then
    raise sqlstate '42501' using
      message = format('Cannot store the file of %s bytes: it exceeds the quota stored_bytes', v_size),
      detail = 'QUOTA_EXCEEDED',
      hint = 'Delete files or old jobs first.';
  end if;
  return new;
end;
$$;
comment on function private.debit_stored_file() is
  'Row trigger of storage.objects: refuses a file in a user''s folder that exceeds the quota stored_bytes when its size is known, which is after its bytes have arrived: a signed upload URL was permitted earlier, and parallel uploads are permitted together. Storage answers 403 for the SQLSTATE 42501 and removes the bytes. Definer: the role of Storage may not read quotas.';
create trigger objects_debit_quota before insert or update of name, bucket_id, metadata on storage.objects
  for each row when (new.bucket_id = 'supaswarm-data' and new.metadata ->> 'size' is not null)
  execute function private.debit_stored_file();

create function private.raise_file_invalid(p_problem text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.raise_error('FILE_INVALID', 'Cannot use the files of the input: ' || p_problem,
    'Name at most 20 files as paths in the bucket supaswarm-data, such as {"files": ["<your user id>/report.pdf"]}.');
end;
$$;
comment on function private.raise_file_invalid(text) is 'Raises FILE_INVALID with the problem.';

create function private.describe_files(p_files jsonb, p_owner_id uuid)
returns table (path text, media_type text, size_bytes bigint)
language plpgsql
set search_path = ''
as $$
declare
  c_max_bytes constant bigint := 10485760;
  v_path text;
  v_total bigint := 0;
begin
  if jsonb_typeof(p_files) <> 'array' or jsonb_array_length(p_files) > 20
    or jsonb_path_exists(p_files, '$[*] ? (@.type() != "string")')
  then
    perform private.raise_file_invalid('they are not a list of at most 20 paths');
  end if;
  for v_path in select distinct entry from jsonb_array_elements_text(p_files) as entry loop
    select object.name, private.media_type_of(object.name), (object.metadata ->> 'size')::bigint
    into path, media_type, size_bytes
    from storage.objects as object
    where object.bucket_id = 'supaswarm-data' and object.name = v_path
      and v_path !~ '(^|/)\.{0,2}(/|$)'
      and (
        p_owner_id is null
        or split_part(v_path, '/', 1) = p_owner_id::text
        or exists (
          select from public.tasks as job
          where job.id = private.id_of_folder(v_path) and job.parent_id is null and job.created_by = p_owner_id
        )
      );
    if not found then
      perform private.raise_error('FILE_NOT_FOUND',
        format('Cannot use the file %L: you have no file at this path', left(v_path, 200)),
        'Upload it to the bucket supaswarm-data, into the folder with your user id, and send its full path.');
    end if;
    if media_type is null then
      perform private.raise_error('FILE_TYPE_UNSUPPORTED',
        format('Cannot use the file %L: no model can read files of this type', left(v_path, 200)),
        'Send an image (png, jpg, gif, webp), a PDF or a text file.');
    end if;
    v_total := v_total + coalesce(size_bytes, 0);
    if v_total > c_max_bytes then
      perform private.raise_error('FILES_TOO_LARGE',
        format('Cannot use the files of the input: together they are larger than %s bytes', c_max_bytes),
        'Send smaller or fewer files.');
    end if;
    return next;
  end loop;
end;
$$;
comment on function private.describe_files(jsonb, uuid) is
  'Path, media type and size of the files in a task''s input that its owner (null: the service, which may use any file) may use: the owner''s uploads and the files of the owner''s jobs. Raises FILE_INVALID, FILE_NOT_FOUND, FILE_TYPE_UNSUPPORTED, FILES_TOO_LARGE. Called when a task is created or continued, when a worker opens it, and by workers before they read the files.';

create function private.assert_files_are_usable(p_input jsonb, p_owner_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if jsonb_typeof(p_input) = 'object' and p_input ? 'files' then
    perform private.describe_files(p_input -> 'files', p_owner_id);
  end if;
end;
$$;
comment on function private.assert_files_are_usable(jsonb, uuid) is
  'Raises what describe_files() raises for the files that an input names.';

create function private.assert_message_files_are_usable(p_task public.tasks, p_input jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if jsonb_typeof(p_input) <> 'object' or not p_input ? 'files' then
    return;
  end if;
  perform private.assert_files_are_usable(p_input, p_task.created_by);
  -- Each model call includes the files of all messages.
  perform private.describe_files(
    (
      select jsonb_agg(distinct named.path)
      from (
        select p_task.input as input
        union all
        select step.input from public.task_steps as step where step.task_id = p_task.id and step.kind = 'user'
        union all
        select p_input
      ) as message
      cross join jsonb_array_elements(case when jsonb_typeof(message.input) = 'object' then message.input -> 'files' end)
        as named (path)
    ),
    p_task.created_by
  );
end;
$$;
comment on function private.assert_message_files_are_usable(public.tasks, jsonb) is
  'Raises what describe_files() raises for a message that continues a task, for its own files together with those of the whole transcript.';
