-- Jobs whose text came from an OAuth client: their agents are limited to the scopes of that client.

create table private.job_clients (
  job_id uuid not null references public.tasks (id) on delete cascade,
  client_id text not null,
  scopes text[] not null,
  noted_at timestamptz not null default clock_timestamp(),
  primary key (job_id, client_id)
);
comment on table private.job_clients is
  'OAuth clients that created a job, continued it or answered its reviews with text. A job without a row received text only from its user or the service.';
comment on column private.job_clients.scopes is 'The scopes of the client''s grant when it first contributed to the job.';
alter table private.job_clients enable row level security;

create function private.common_scopes(p_some text[], p_others text[])
returns text[]
language plpgsql
immutable
set search_path = ''
as $$
begin
  if 'admin:*' = any (p_some) then
    return p_others;
  elsif 'admin:*' = any (p_others) then
    return p_some;
  end if;
  return array(select scope from unnest(p_some) as scope where scope = any (p_others));
end;
$$;
comment on function private.common_scopes(text[], text[]) is 'The scopes that both lists cover; admin:* covers every scope.';

create function private.record_job_client(p_job_id uuid, p_client_id text, p_user_id uuid)
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
comment on function private.record_job_client(uuid, text, uuid) is
  'Records that an OAuth client of a user has contributed text to a job, with the scopes it has now. Does nothing for a null client.';

create function private.record_calling_client(p_job_id uuid, p_user_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if private.calling_actor() = 'client' then
    perform private.record_job_client(p_job_id, private.request_claims() ->> 'client_id', p_user_id);
  end if;
end;
$$;
comment on function private.record_calling_client(uuid, uuid) is
  'Calls record_job_client() when the caller is an OAuth client; does nothing for other callers.';

create function private.client_of_task(p_task_id uuid)
returns private.job_clients
language plpgsql
stable
set search_path = ''
as $$
declare
  v_client private.job_clients;
begin
  select client.* into v_client
  from public.tasks as task
  join private.job_clients as client on client.job_id = task.master_task_id
  where task.id = p_task_id
  order by client.noted_at, client.client_id
  limit 1;
  return case when found then v_client end;
end;
$$;
comment on function private.client_of_task(uuid) is
  'The first OAuth client that contributed to the job of a task; null when there is none.';

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
    -- A scope that the operator has revoked since then no longer applies to the client's jobs either.
    v_scopes := private.common_scopes(v_scopes, private.common_scopes(
      v_client.scopes, private.granted_scopes(p_user_id, v_client.client_id)));
  end loop;
  return v_scopes;
end;
$$;
comment on function private.scopes_of_clients(uuid, uuid) is
  'The scopes that each OAuth client that contributed to the task''s job had then and still has; admin:* when there is no such client.';

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
  'The scopes of a task''s tool calls: the scopes of its owner, limited to those of every OAuth client that contributed to the job.';
