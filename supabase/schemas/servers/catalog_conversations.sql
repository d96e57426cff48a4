-- Conversations and their messages, written by the tools of the server catalog.

create table public.conversations (
  id uuid primary key default private.new_id(),
  user_id uuid not null references auth.users (id) on delete cascade,
  title text not null check (length(title) between 1 and 200),
  message_count int not null default 0 check (message_count >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
revoke all on public.conversations from anon, authenticated, service_role;
create index conversations_user_id_idx on public.conversations (user_id, updated_at);
comment on table public.conversations is
  'A user''s conversations. Written by private functions that the tools of the server catalog call.';
comment on column public.conversations.user_id is 'The owner.';
comment on column public.conversations.message_count is 'Also the seq of the newest message. Adding a message increments it first, so that messages are numbered in the order in which they commit.';
comment on column public.conversations.updated_at is 'When the newest message was added.';

alter table public.conversations enable row level security;
create policy "users read their own conversations" on public.conversations
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('chat:read'))
  );
comment on policy "users read their own conversations" on public.conversations is
  'A chat page lists the user''s conversations over the REST API; an OAuth client needs chat:read.';
grant select on public.conversations to authenticated;
grant select, insert, update, delete on public.conversations to service_role;

create table public.messages (
  id uuid primary key default private.new_id(),
  conversation_id uuid not null references public.conversations (id) on delete cascade,
  seq int not null check (seq > 0),
  role text not null check (role in ('user', 'assistant')),
  content text not null check (length(content) <= 1000000),
  client_message_id text check (length(client_message_id) between 1 and 200),
  created_at timestamptz not null default now(),
  unique (conversation_id, seq)
);
revoke all on public.messages from anon, authenticated, service_role;
create unique index messages_client_message_id_idx on public.messages (conversation_id, client_message_id)
  where client_message_id is not null;
comment on table public.messages is 'Messages of conversations. They are added, deleted with their conversation, and never changed.';
comment on column public.messages.seq is 'Position in the conversation, from 1 without gaps.';
comment on column public.messages.client_message_id is
  'A key that the client chooses: within a conversation, a repeated key returns the existing message. task:<id>:<epoch> for the output of a task.';

alter table public.messages enable row level security;
create policy "users read the messages of their own conversations" on public.messages
  for select to authenticated using (
    exists (
      select from public.conversations conversation
      where conversation.id = conversation_id and conversation.user_id = (select auth.uid())
    )
    and (select private.has_scope('chat:read'))
  );
comment on policy "users read the messages of their own conversations" on public.messages is
  'Users read the messages of their conversations; an OAuth client needs chat:read.';
grant select on public.messages to authenticated;
grant select, insert, update, delete on public.messages to service_role;

create function private.create_conversation(p_title text)
returns uuid
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_id uuid;
begin
  perform private.assert_has_scope('create the conversation', 'conv:write');
  insert into public.conversations (user_id, title)
  values (auth.uid(), p_title)
  returning id into v_id;
  return v_id;
end;
$$;
comment on function private.create_conversation(text) is
  'Creates a conversation of the caller and returns its id. Definer: users may not write the table; the row belongs to auth.uid(). Raises INSUFFICIENT_SCOPE. Called by the server catalog.';
grant execute on function private.create_conversation(text) to authenticated;

create function private.raise_conversation_not_found(p_attempt text, p_conversation_id text)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  perform private.raise_error('CONVERSATION_NOT_FOUND',
    format('Cannot %s: you have no conversation %s', p_attempt, p_conversation_id),
    'List your conversations with GET /rest/v1/conversations, or create one with create_conversation.');
end;
$$;
comment on function private.raise_conversation_not_found(text, text) is
  'Raises CONVERSATION_NOT_FOUND, with the same message for another user''s conversation and for one that does not exist.';

create function private.append_message(
  p_conversation_id uuid, p_user_id uuid, p_role text, p_content text, p_client_message_id text
)
returns uuid
language plpgsql
set search_path = ''
as $$
declare
  v_seq int;
  v_id uuid;
begin
  -- Lock first: of two concurrent calls with the same key, the second finds the message of the first.
  perform from public.conversations
  where id = p_conversation_id and user_id = p_user_id
  for no key update;
  if not found then
    return null;
  end if;
  select id into v_id
  from public.messages
  where conversation_id = p_conversation_id and client_message_id = p_client_message_id;
  if found then
    return v_id;
  end if;
  update public.conversations
  set message_count = message_count + 1, updated_at = clock_timestamp()
  where id = p_conversation_id
  returning message_count into v_seq;
  insert into public.messages (conversation_id, seq, role, content, client_message_id, created_at)
  values (p_conversation_id, v_seq, p_role, p_content, p_client_message_id, clock_timestamp())
  returning id into v_id;
  return v_id;
end;
$$;
comment on function private.append_message(uuid, uuid, text, text, text) is
  'Adds a message to a conversation of this user and returns its id. A repeated key (null: no key) returns the existing message. Null when the user has no such conversation. Messages of one conversation are added one after another.';

create function private.add_message(
  p_conversation_id uuid, p_role text, p_content text, p_client_message_id text
)
returns uuid
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_id uuid;
begin
  perform private.assert_has_scope('add the message', 'conv:write');
  v_id := private.append_message(p_conversation_id, auth.uid(), p_role, p_content, p_client_message_id);
  if v_id is null then
    perform private.raise_conversation_not_found('add the message', p_conversation_id::text);
  end if;
  return v_id;
end;
$$;
comment on function private.add_message(uuid, text, text, text) is
  'append_message() for a conversation of the caller. Definer: users may not write the table; the function writes only to conversations of auth.uid(). Raises CONVERSATION_NOT_FOUND, INSUFFICIENT_SCOPE. Called by the server catalog.';
grant execute on function private.add_message(uuid, text, text, text) to authenticated;

create function private.delete_conversation(p_conversation_id uuid)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.assert_has_scope('delete the conversation', 'conv:write');
  delete from public.conversations where id = p_conversation_id and user_id = auth.uid();
  if not found then
    perform private.raise_conversation_not_found('delete the conversation', p_conversation_id::text);
  end if;
end;
$$;
comment on function private.delete_conversation(uuid) is
  'Deletes a conversation of the caller with its messages. Definer: users may not write the table; the function deletes only conversations of auth.uid(). Raises CONVERSATION_NOT_FOUND, INSUFFICIENT_SCOPE. Called by the server catalog.';
grant execute on function private.delete_conversation(uuid) to authenticated;

create function private.debit_conversations()
returns trigger
language plpgsql
-- Operators may write conversations too.
security definer
set search_path = ''
as $$
declare
  -- A row with its places in the indexes, beside its text.
  c_row_bytes constant int := 200;
begin
  if tg_table_name = 'conversations' then
    if tg_op = 'INSERT' then
      perform private.debit_stored('conversation_bytes', new.user_id, c_row_bytes + octet_length(new.title), 'create the conversation');
      return null;
    end if;
    perform private.credit_stored('conversation_bytes', old.user_id, c_row_bytes + octet_length(old.title) + coalesce((
      select sum(c_row_bytes + octet_length(message.content))
      from public.messages as message
      where message.conversation_id = old.id
    ), 0)::bigint);
    return old;
  end if;
  perform private.debit_stored('conversation_bytes', (
    select conversation.user_id from public.conversations as conversation where conversation.id = new.conversation_id
  ), c_row_bytes + octet_length(new.content), 'add the message');
  return null;
end;
$$;
comment on function private.debit_conversations() is
  'Row trigger: counts conversations and messages toward the quota conversation_bytes, and no longer when the conversation is deleted. Raises QUOTA_EXCEEDED. Definer: clients may not read quotas.';
create trigger conversations_debit after insert on public.conversations
  for each row execute function private.debit_conversations();
-- Before, while its messages exist.
create trigger conversations_credit before delete on public.conversations
  for each row execute function private.debit_conversations();
create trigger messages_debit after insert on public.messages
  for each row execute function private.debit_conversations();

-- Tasks that answer in a conversation -------------------------------------------------------------

create function private.conversation_of_task(p_metadata jsonb)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return substring(
    p_metadata ->> 'conversation_id' from '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$')::uuid;
end;
$$;
comment on function private.conversation_of_task(jsonb) is
  'The conversation that the metadata of a task names; null when it names none or an invalid id.';

create function private.assert_answers_own_conversation(p_metadata jsonb, p_user_id uuid)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_metadata ? 'conversation_id' and not exists (
    select from public.conversations
    where id = private.conversation_of_task(p_metadata) and user_id = p_user_id
  ) then
    perform private.raise_conversation_not_found(
      'create the task', coalesce(left(p_metadata ->> 'conversation_id', 100), 'null'));
  end if;
end;
$$;
comment on function private.assert_answers_own_conversation(jsonb, uuid) is
  'Raises CONVERSATION_NOT_FOUND unless metadata.conversation_id of a task, if present, is a conversation of the task''s owner. Called by create_task().';

create function private.answer_conversation()
returns trigger
language plpgsql
set search_path = ''
as $$
declare
  c_max_characters constant int := 1000000;
begin
  -- A client may have continued or forked the job, or written its schedule, after somebody else named the conversation.
  if not private.scopes_of_clients(new.id, new.created_by) && array['conv:write', 'admin:*'] then
    update public.tasks
    set logs = logs || private.log_line('not added to its conversation: a client of the job lacks the scope conv:write')
    where id = new.id;
    return null;
  end if;
  -- If the conversation was deleted in the meantime, or its owner's quota is used up, nothing is added and the
  -- task still completes.
  perform private.append_message(
    private.conversation_of_task(new.metadata), new.created_by, 'assistant',
    left(case jsonb_typeof(new.output)
      when 'string' then new.output #>> '{}'
      else new.output::text
    end, c_max_characters),
    format('task:%s:%s', new.id, new.epoch)
  );
  return null;
exception when sqlstate 'PT429' then
  update public.tasks set logs = logs || private.log_line(sqlerrm) where id = new.id;
  return null;
end;
$$;
comment on function private.answer_conversation() is
  'Row trigger: adds the output of a job to the conversation that its metadata names, in the transaction that completes the job, if every OAuth client that contributed to the job has the scope conv:write. The key is the task and its epoch, so that each completion adds one message.';

create trigger answer_conversation after update of status on public.tasks
  for each row
  when (
    new.status = 'completed' and old.status <> 'completed' and new.parent_id is null
    and new.output is not null and new.created_by is not null and new.metadata ? 'conversation_id'
  )
  execute function private.answer_conversation();
