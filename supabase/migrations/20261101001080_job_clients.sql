-- Jobs that an OAuth client has given its words to: what their agents do is held to its scopes.

create table private.job_clients (
  job_id uuid not null references public.tasks (id) on delete cascade,
  client_id text not null,
  scopes text[] not null,
  noted_at timestamptz not null default clock_timestamp(),
  primary key (job_id, client_id)
);
comment on table private.job_clients is
  'OAuth clients that created a job, continued it or answered its reviews in words. To a job without a row only the person or the service has spoken.';
comment on column private.job_clients.scopes is 'What the client''s grant had when it first spoke.';
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
    values (p_job_id, p_client_id, private.granted_scopes(p_user_id, p_client_id))
    on conflict do nothing;
  end if;
end;
$$;
comment on function private.note_job_client(uuid, text, uuid) is
  'Stores that an OAuth client (null: none) of a user has given a job its words, with the scopes it has now.';

create function private.note_calling_client(p_job_id uuid, p_user_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if private.calling_actor() = 'client' then
    perform private.note_job_client(p_job_id, private.request_claims() ->> 'client_id', p_user_id);
  end if;
end;
$$;
comment on function private.note_calling_client(uuid, uuid) is
  'note_job_client() for a caller that is an OAuth client; nothing for all others.';

create function private.client_of_task(p_task_id uuid)
returns private.job_clients
language sql
stable
set search_path = ''
as $$
  select client
  from public.tasks as task
  join private.job_clients as client on client.job_id = task.master_task_id
  where task.id = p_task_id
  order by client.noted_at, client.client_id
  limit 1;
$$;
comment on function private.client_of_task(uuid) is
  'The OAuth client that was the first to speak to the job of a task; null where none did.';

create function private.scopes_of_clients(p_task_id uuid, p_user_id uuid)
returns text[]
language plpgsql
stable
set search_path = ''
as $$
declare
  v_scopes text[] := array['admin:*'];
  v_client private.job_clients;
begin
  for v_client in
    select client.*
    from public.tasks as task
    join private.job_clients as client on client.job_id = task.master_task_id
    where task.id = p_task_id
  loop
    -- A scope that the operator has taken from the client since then is gone for its jobs as well.
    v_scopes := private.common_scopes(v_scopes, private.common_scopes(
      v_client.scopes, private.granted_scopes(p_user_id, v_client.client_id)));
  end loop;
  return v_scopes;
end;
$$;
comment on function private.scopes_of_clients(uuid, uuid) is
  'The scopes that each OAuth client that spoke to the job of a task had then and still has; admin:* where none did.';

create function private.scopes_of_task(p_task_id uuid, p_user_id uuid)
returns text[]
language plpgsql
stable
set search_path = ''
as $$
begin
  return private.common_scopes(
    private.granted_scopes(p_user_id, null), private.scopes_of_clients(p_task_id, p_user_id));
end;
$$;
comment on function private.scopes_of_task(uuid, uuid) is
  'The scopes of a task''s tool calls: its owner''s, and of a job that OAuth clients spoke to only those that each of them had then and still has.';
