-- Jobs that an OAuth client created: what their agents do is held to the scopes of that client.

create table private.job_clients (
  job_id uuid primary key references public.tasks (id) on delete cascade,
  client_id text not null,
  scopes text[] not null
);
comment on table private.job_clients is
  'The OAuth client that created a job. A job without a row was created by a person or the service.';
comment on column private.job_clients.scopes is 'What the client''s grant had when it created the job.';
alter table private.job_clients enable row level security;

create function private.common_scopes(p_some text[], p_others text[])
returns text[]
language sql
immutable
set search_path = ''
as $$
  select case
    when 'admin:*' = any (p_some) then p_others
    when 'admin:*' = any (p_others) then p_some
    else array(select scope from unnest(p_some) as scope where scope = any (p_others))
  end;
$$;
comment on function private.common_scopes(text[], text[]) is 'The scopes that both lists cover; admin:* covers every scope.';

create function private.note_job_client(p_job_id uuid, p_client_id text, p_user_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_client_id is not null then
    insert into private.job_clients (job_id, client_id, scopes)
    values (p_job_id, p_client_id, private.granted_scopes(p_user_id, p_client_id));
  end if;
end;
$$;
comment on function private.note_job_client(uuid, text, uuid) is
  'Stores which OAuth client (null: none) of a user created a job, with the scopes it has now.';

create function private.client_of_task(p_task_id uuid)
returns private.job_clients
language sql
stable
set search_path = ''
as $$
  select client
  from public.tasks as task
  join private.job_clients as client on client.job_id = task.master_task_id
  where task.id = p_task_id;
$$;
comment on function private.client_of_task(uuid) is 'The OAuth client that created the job of a task; null where none did.';

create function private.scopes_of_task(p_task_id uuid, p_user_id uuid)
returns text[]
language plpgsql
stable
set search_path = ''
as $$
declare
  v_scopes constant text[] := private.granted_scopes(p_user_id, null);
  v_client constant private.job_clients := private.client_of_task(p_task_id);
begin
  if v_client.job_id is null then
    return v_scopes;
  end if;
  -- A scope that the operator has taken from the client since then is gone for its jobs as well.
  return private.common_scopes(
    v_scopes,
    private.common_scopes(v_client.scopes, private.granted_scopes(p_user_id, v_client.client_id))
  );
end;
$$;
comment on function private.scopes_of_task(uuid, uuid) is
  'The scopes of a task''s tool calls: its owner''s, and of a job that an OAuth client created only those that the client had then and still has.';
