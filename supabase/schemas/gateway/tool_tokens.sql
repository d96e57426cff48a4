-- Tool tokens: an edge function that is called as a tool gets a short-lived token for the call's user, task
-- and tool, instead of a key.

create table private.tool_tokens (
  token_hash text primary key,
  user_id uuid,
  agent_id uuid,
  task_id uuid,
  client_id text,
  tool text not null,
  execution_id uuid not null,
  expires_at timestamptz not null
);
create index tool_tokens_expires_at_idx on private.tool_tokens (expires_at);
create index tool_tokens_task_id_idx on private.tool_tokens (task_id);
comment on table private.tool_tokens is
  'Tokens of tool calls that run in edge functions. Rows live for minutes and have no foreign keys: what they name is looked up when the token is used.';
comment on column private.tool_tokens.token_hash is 'SHA-256 in hexadecimal. The token is not stored.';
comment on column private.tool_tokens.user_id is 'The user on whose behalf the tool was called; null for the service.';
comment on column private.tool_tokens.task_id is 'The token becomes invalid when this task ends, even if the task continues later; null for a call outside tasks.';
comment on column private.tool_tokens.client_id is 'OAuth client that called the tool, whose scopes also limit the token.';
comment on column private.tool_tokens.tool is 'tools.slug of the called tool.';
comment on column private.tool_tokens.execution_id is 'The call in mcp_executions.';
alter table private.tool_tokens enable row level security;

create function private.issue_tool_token(p_call jsonb, p_token_hash text, p_seconds numeric)
returns void
language plpgsql
set search_path = ''
as $$
begin
  delete from private.tool_tokens
  where token_hash in (
    select token_hash from private.tool_tokens
    where expires_at < clock_timestamp()
    order by expires_at
    limit 100
    for update skip locked
  );
  insert into private.tool_tokens (token_hash, user_id, agent_id, task_id, client_id, tool, execution_id, expires_at)
  values (
    p_token_hash,
    (p_call ->> 'user_id')::uuid,
    (p_call ->> 'agent_id')::uuid,
    (p_call ->> 'task_id')::uuid,
    p_call ->> 'client_id',
    p_call ->> 'tool',
    (p_call ->> 'execution_id')::uuid,
    clock_timestamp() + make_interval(secs => p_seconds::double precision)
  );
end;
$$;
comment on function private.issue_tool_token(jsonb, text, numeric) is
  'Stores a token for a tool call {user_id, agent_id, task_id, client_id, tool, execution_id}, and deletes expired tokens. Called by the gateway.';

create function private.find_tool_token(p_token_hash text)
returns private.tool_tokens
language plpgsql
stable
set search_path = ''
as $$
declare
  v_token private.tool_tokens;
begin
  select token.* into v_token
  from private.tool_tokens as token
  where token.token_hash = p_token_hash
    and token.expires_at > clock_timestamp()
    and (token.task_id is null or exists (
      select from public.tasks as task where task.id = token.task_id and task.finished_at is null
    ))
    and (token.user_id is null or exists (select from auth.users as person where person.id = token.user_id));
  if not found then
    perform private.raise_error('UNAUTHORIZED',
      'Cannot authenticate the request: the token of the tool call is not valid',
      'Send the x-supaswarm-token of a tool call that has not timed out, while its task runs.');
  end if;
  return v_token;
end;
$$;
comment on function private.find_tool_token(text) is
  'The tool call of a token, by its hash. Raises UNAUTHORIZED when the token is unknown or expired, or when its task has ended.';

create function private.agent_of_token(p_token_hash text)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_token private.tool_tokens := private.find_tool_token(p_token_hash);
begin
  if v_token.user_id is null and v_token.task_id is null then
    perform private.raise_error('AGENT_NOT_ALLOWED', 'Cannot act with the token of a tool call that the service made',
      'Call the tool in a task or on behalf of a user; otherwise the token would have unlimited rights.');
  end if;
  return to_jsonb(v_token) - 'token_hash';
end;
$$;
comment on function private.agent_of_token(text) is
  'The caller that acts with a tool token: {user_id, agent_id, task_id, client_id, …}. Raises UNAUTHORIZED, AGENT_NOT_ALLOWED. Called by the edge functions.';

create function private.agent_of_task(p_task_id uuid, p_user_id uuid)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_task public.tasks;
begin
  select task.* into v_task
  from public.tasks as task
  where task.id = p_task_id and (p_user_id is null or task.created_by = p_user_id);
  if not found then
    perform private.raise_error('TASK_NOT_FOUND',
      format('Cannot act for the task %s: the task does not exist', coalesce(p_task_id::text, 'null')),
      'Send the x-supaswarm-task-id of the tool call.');
  end if;
  return jsonb_build_object(
    'user_id', v_task.created_by, 'agent_id', v_task.agent_id, 'task_id', v_task.id, 'client_id', null);
end;
$$;
comment on function private.agent_of_task(uuid, uuid) is
  'The caller that acts in a task named by a request: {user_id, agent_id, task_id, client_id}. Raises TASK_NOT_FOUND, also for another user''s task. Called by the edge functions.';

create function private.verify_tool_token(p_token text)
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_token private.tool_tokens := private.find_tool_token(encode(sha256(convert_to(p_token, 'utf8')), 'hex'));
begin
  return to_jsonb(v_token) - 'token_hash';
end;
$$;
comment on function private.verify_tool_token(text) is
  'The tool call of a token. Definer: the service may not read the hashes; only the service may execute this function.';

create function public.verify_tool_token(p_token text)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select private.verify_tool_token(p_token);
$$;
comment on function public.verify_tool_token(text) is
  'Returns to an edge function the call of an x-supaswarm-token: {user_id, agent_id, task_id, client_id, tool, execution_id, expires_at}. For the service. Raises UNAUTHORIZED when the token is unknown or expired, or when its task has ended.';
revoke all on function public.verify_tool_token(text) from public, anon, authenticated, service_role;
grant execute on function private.verify_tool_token(text), public.verify_tool_token(text) to service_role;
