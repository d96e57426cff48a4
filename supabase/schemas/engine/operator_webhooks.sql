-- Webhooks of the service over the API: operators see what was sent, and people with the scope swarm:configure send
-- messages again and try a receiver.

create function private.operator_webhook_messages()
returns table (
  id uuid, webhook text, type text, status text, attempts int, log jsonb, error jsonb, payload jsonb,
  created_at timestamptz, finished_at timestamptz
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the messages of webhooks');
  return query
    select message.id, webhook.name, message.type, message.status, message.attempts, message.log, message.error, message.payload,
      message.created_at, message.finished_at
    from public.webhook_messages as message
    join public.webhooks as webhook on webhook.id = message.webhook_id
    where webhook.created_by is null and webhook.name is not null
    order by message.created_at desc;
end;
$$;
comment on function private.operator_webhook_messages() is
  'Messages of the service''s webhooks, for operators. Definer: users read only those of their own; assert_operator() checks the caller.';

create view public.operator_webhook_messages with (security_invoker = true) as
  select * from private.operator_webhook_messages();
revoke all on public.operator_webhook_messages from anon, authenticated, service_role;
comment on view public.operator_webhook_messages is
  'Messages of the service''s webhooks that have a name, with the attempts to send them, newest first. For operators and the service; INSUFFICIENT_SCOPE for all others.';
grant execute on function private.operator_webhook_messages() to authenticated, service_role;
grant select on public.operator_webhook_messages to authenticated, service_role;

create function private.operator_test_webhook(p_name text)
returns uuid
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_webhook public.webhooks;
  v_message_id uuid;
begin
  perform private.assert_has_own_scope(format('send a test message to the webhook "%s"', p_name), 'swarm:configure');
  select * into v_webhook from public.webhooks as webhook where webhook.created_by is null and webhook.name = p_name;
  if not found then
    perform private.raise_error('WEBHOOK_NOT_FOUND', format('Cannot send a test message: the service has no webhook "%s"', p_name),
      'Read the names from operator_definitions.');
  elsif not v_webhook.is_active then
    perform private.raise_error('WEBHOOK_INACTIVE', format('Cannot send a test message: the webhook "%s" is not active', p_name),
      'Activate it first.');
  end if;
  insert into public.webhook_messages (webhook_id, type, payload)
  values (v_webhook.id, 'webhook.test', jsonb_build_object(
    'type', 'webhook.test', 'timestamp', clock_timestamp(), 'data', jsonb_build_object('webhook', p_name)
  ))
  returning id into v_message_id;
  perform private.record_act('webhook.tested', '{}', null, jsonb_build_object('kind', 'webhook', 'slug', p_name, 'message_id', v_message_id));
  return v_message_id;
end;
$$;
comment on function private.operator_test_webhook(text) is
  'Queues a test message. Definer: users may not write messages; assert_has_own_scope() checks the caller.';

create function public.operator_test_webhook(p_name text)
returns uuid
language sql
set search_path = ''
as $$
  select private.operator_test_webhook(p_name);
$$;
comment on function public.operator_test_webhook(text) is
  'Sends a message of the type webhook.test, signed like all others, to a webhook of the service and returns its id; operator_webhook_messages shows the result. operator_acts records it. For people with the scope swarm:configure and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, WEBHOOK_NOT_FOUND, WEBHOOK_INACTIVE.';
revoke all on function public.operator_test_webhook(text) from public, anon, authenticated, service_role;

create function private.operator_resend_webhook_message(p_message_id uuid)
returns text
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_name text;
  v_status text;
begin
  perform private.assert_has_own_scope('send the message again', 'swarm:configure');
  select webhook.name into v_name
  from public.webhook_messages as message
  join public.webhooks as webhook on webhook.id = message.webhook_id
  where message.id = p_message_id and webhook.created_by is null;
  if not found then
    perform private.raise_error('WEBHOOK_NOT_FOUND', format('Cannot send the message again: no message of the service has the id %s', p_message_id),
      'Read the ids from operator_webhook_messages.');
  end if;
  v_status := private.send_message_again(p_message_id);
  perform private.record_act('webhook_message.resent', '{}', null,
    jsonb_build_object('kind', 'webhook', 'slug', v_name, 'message_id', p_message_id));
  return v_status;
end;
$$;
comment on function private.operator_resend_webhook_message(uuid) is
  'Sends a message of the service''s webhooks again. Definer: users may not write messages; assert_has_own_scope() checks the caller.';

create function public.operator_resend_webhook_message(p_message_id uuid)
returns text
language sql
set search_path = ''
as $$
  select private.operator_resend_webhook_message(p_message_id);
$$;
comment on function public.operator_resend_webhook_message(uuid) is
  'As resend_webhook_message(), for messages of the service''s webhooks. operator_acts records it. For people with the scope swarm:configure and the service. Raises INSUFFICIENT_SCOPE, AGENT_NOT_ALLOWED, WEBHOOK_NOT_FOUND, WEBHOOK_INACTIVE.';
revoke all on function public.operator_resend_webhook_message(uuid) from public, anon, authenticated, service_role;
grant execute on function private.operator_test_webhook(text), public.operator_test_webhook(text),
  private.operator_resend_webhook_message(uuid), public.operator_resend_webhook_message(uuid) to authenticated, service_role;
