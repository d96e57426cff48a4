-- Messages of webhooks, which are a kind of work: written together with their event and sent by workers.

create table public.webhook_messages (
  id uuid primary key default private.new_id(),
  webhook_id uuid not null references public.webhooks (id) on delete cascade,
  task_id uuid references public.tasks (id) on delete cascade,
  type text not null,
  payload jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'running', 'delivered', 'failed')),
  attempts int not null default 0,
  log jsonb not null default '[]',
  error jsonb,
  epoch bigint not null default 0,
  deliveries int not null default 0,
  worker_id text,
  lease_expires_at timestamptz,
  run_after timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  constraint webhook_messages_lease_check check (
    (status = 'running') = (lease_expires_at is not null) and (status = 'running') = (worker_id is not null)
  ),
  constraint webhook_messages_end_check check ((status in ('delivered', 'failed')) = (finished_at is not null)),
  constraint webhook_messages_error_check check (status <> 'failed' or error is not null)
);
revoke all on public.webhook_messages from anon, authenticated, service_role;
create index webhook_messages_webhook_id_idx on public.webhook_messages (webhook_id, created_at);
create index webhook_messages_task_id_idx on public.webhook_messages (task_id);
create index webhook_messages_open_idx on public.webhook_messages (webhook_id, coalesce(run_after, created_at), id)
  where finished_at is null;
create index webhook_messages_finished_at_idx on public.webhook_messages (finished_at) where finished_at is not null;
comment on table public.webhook_messages is
  'Messages of webhooks, one row for each event and webhook, with the result of sending. A failed message is a dead letter, which resend_webhook_message() sends again. Kept for 30 days after it ends.';
comment on column public.webhook_messages.id is 'Sent as the header webhook-id, which is the same for each attempt, so that receivers recognize a repeated message.';
comment on column public.webhook_messages.task_id is 'Null for messages of alerts.';
comment on column public.webhook_messages.type is 'As in task_events, or alert.raised or alert.cleared.';
comment on column public.webhook_messages.payload is 'The body that is sent.';
comment on column public.webhook_messages.attempts is 'Failed requests since the message was written or last resent.';
comment on column public.webhook_messages.log is 'The last 20 attempts, [{at, duration_ms, status, error}], oldest first. status is the receiver''s HTTP status, error is {code, message}.';
comment on column public.webhook_messages.error is 'Why the last attempt failed, {code, message, hint}; null once the message is delivered.';
comment on column public.webhook_messages.deliveries is 'Claims since the last attempt that ended. More than one means that workers died.';
comment on column public.webhook_messages.run_after is 'The message is not sent again before this time.';
alter table public.webhook_messages enable row level security;
create policy "owners read the messages of their webhooks" on public.webhook_messages
  for select to authenticated using (
    exists (select from public.webhooks as webhook where webhook.id = webhook_id and webhook.created_by = (select auth.uid()))
    and (select private.has_scope('swarm:run'))
  );
comment on policy "owners read the messages of their webhooks" on public.webhook_messages is 'Owners read the log of their webhooks'' messages, without secrets.';
grant select on public.webhook_messages to authenticated, service_role;

select private.create_work_kind('webhook_message', 'public.webhook_messages', 'supaswarm-webhooks');

create constraint trigger webhook_messages_wake_on_insert after insert on public.webhook_messages
  deferrable initially deferred for each row
  when (new.status = 'pending')
  execute function private.wake_at_commit('supaswarm-webhooks');
create constraint trigger webhook_messages_wake_on_update after update of status, run_after on public.webhook_messages
  deferrable initially deferred for each row
  when (new.status = 'pending' and new.run_after is null and (old.status <> 'pending' or old.run_after is not null))
  execute function private.wake_at_commit('supaswarm-webhooks');

-- Writing them --------------------------------------------------------------------------------------

create function private.queue_webhook_messages()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_max_payload_bytes constant int := 32768;
begin
  if not exists (select from public.webhooks where is_active) then
    return null;
  end if;
  insert into public.webhook_messages (webhook_id, task_id, type, payload)
  select webhook.id, event.task_id, event.type, jsonb_build_object(
    'type', event.type,
    'timestamp', event.at,
    'data', jsonb_build_object(
      'task_id', event.task_id,
      'master_task_id', event.master_task_id,
      'agent', task.agent_slug,
      'seq', event.id * 64,
      'event', case
        when octet_length(event.data::text) <= v_max_payload_bytes then event.data
        else jsonb_build_object(
          'reference', jsonb_build_object('table', 'task_events', 'id', event.id * 64),
          'bytes', octet_length(event.data::text))
      end
    )
  )
  from (
    select candidate.*, private.event_data(candidate.task_id, candidate.type, candidate.payload) as data
    from written as candidate
    where candidate.type like 'task.%' or candidate.type like 'review.%'
    offset 0
  ) as event
  join public.tasks as task on task.id = event.task_id
  join public.webhooks as webhook on webhook.owner_key = task.owner_key
  where webhook.is_active
    and event.type = any (webhook.events)
    and (task.parent_id is null or webhook.includes_subtasks or event.type like 'review.%')
    and (
      webhook.client_id is null
      or private.granted_scopes(webhook.created_by, webhook.client_id) && array['swarm:run', 'admin:*']
    )
  order by event.id;
  return null;
exception when others then
  raise warning 'Cannot queue webhook messages: %', sqlerrm;
  return null;
end;
$$;
comment on function private.queue_webhook_messages() is
  'Statement trigger of task_events: writes one row for each webhook that receives the event, in the transaction of the event. One read is enough when there are no webhooks. Never raises, because a webhook must not block a task. Definer: the role that writes events may not read webhooks.';
create trigger task_events_webhooks after insert on private.task_events
  referencing new table as written
  for each statement execute function private.queue_webhook_messages();

-- Sending them --------------------------------------------------------------------------------------

create function private.webhooks_with_open_messages()
returns setof uuid
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
as $$
begin
  return query
    with recursive webhook (id) as (
      select min_id from (select (
        select webhook_id from public.webhook_messages where finished_at is null order by webhook_id limit 1
      ) as min_id) as first
      where min_id is not null
      union all
      select following.id
      from webhook
      cross join lateral (
        select message.webhook_id as id
        from public.webhook_messages as message
        where message.finished_at is null and message.webhook_id > webhook.id
        order by message.webhook_id
        limit 1
      ) as following
    )
    select id from webhook;
end;
$$;
comment on function private.webhooks_with_open_messages() is
  'Webhooks that have messages to send. One index probe per webhook, however many messages it has.';

create function private.bury_webhook_message(p_message_id uuid, p_error jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update public.webhook_messages
  set status = 'failed', error = p_error, finished_at = clock_timestamp(),
      worker_id = null, lease_expires_at = null, run_after = null
  where id = p_message_id;
end;
$$;
comment on function private.bury_webhook_message(uuid, jsonb) is 'Makes a message a dead letter. The caller has locked it.';

create function private.webhook_stopped_error()
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select jsonb_build_object(
    'code', 'WEBHOOK_INACTIVE',
    'message', 'The webhook was deactivated before the message was delivered',
    'hint', 'Activate the webhook, then send the message again with resend_webhook_message().');
$$;
comment on function private.webhook_stopped_error() is 'The error of messages that became dead letters because their webhook was deactivated.';

create function private.claim_webhook_messages(p_worker_id text, p_limit int, p_lease_seconds int)
returns table (id uuid, epoch bigint, url text, payload text, secrets jsonb)
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  -- A receiver that does not answer blocks at most this many slots, and an owner's receivers together
  -- half of the 16 slots of a worker.
  c_max_at_once constant int := 4;
  c_max_of_owner constant int := 8;
  c_max_deliveries constant int := 5;
  v_now constant timestamptz := clock_timestamp();
  v_message public.webhook_messages;
  v_ids uuid[] := '{}'::uuid[];
begin
  for v_message in
    select message.*
    from public.webhook_messages as message
    join (
      select open.id, open.place, row_number() over (
        partition by open.owner_key order by open.is_sent desc, open.place, open.due_at
      ) as place_of_owner
      from (
        select first.*, webhook.owner_key
        from private.webhooks_with_open_messages() as listed (id)
        join public.webhooks as webhook on webhook.id = listed.id
        cross join lateral (
          select candidate.id,
            coalesce(candidate.run_after, candidate.created_at) as due_at,
            candidate.status = 'running' and candidate.lease_expires_at > v_now as is_sent,
            row_number() over (order by coalesce(candidate.run_after, candidate.created_at), candidate.id) as place
          from public.webhook_messages as candidate
          where candidate.webhook_id = webhook.id and candidate.finished_at is null
          order by coalesce(candidate.run_after, candidate.created_at), candidate.id
          limit c_max_at_once
        ) as first
      ) as open
      where open.is_sent or open.due_at <= v_now
    ) as turn on turn.id = message.id
    where turn.place_of_owner <= c_max_of_owner
      and case message.status
        when 'running' then message.lease_expires_at <= v_now
        else message.run_after is null or message.run_after <= v_now
      end
    -- The first message of each owner comes before the second of any; messages that are being sent count.
    order by turn.place_of_owner, turn.place, coalesce(message.run_after, message.created_at)
    limit p_limit
    for no key update of message skip locked
  loop
    if v_message.deliveries >= c_max_deliveries then
      perform private.bury_webhook_message(v_message.id, jsonb_build_object(
        'code', 'WEBHOOK_NOT_DELIVERED',
        'message', format('The message''s worker died %s times while it was sent', v_message.deliveries),
        'hint', 'Look into the log of supaswarm-webhooks, then send it again with resend_webhook_message().'));
    elsif not (select webhook.is_active from public.webhooks as webhook where webhook.id = v_message.webhook_id) then
      perform private.bury_webhook_message(v_message.id, private.webhook_stopped_error());
    else
      v_ids := v_ids || v_message.id;
    end if;
  end loop;
  return query
    select started.id, started.epoch, webhook.url, started.payload::text,
      to_jsonb(array_remove(array[
        private.secret_value(private.webhook_secret_name(webhook.id)),
        case when webhook.previous_secret_until > v_now
          then private.secret_value(private.webhook_secret_name(webhook.id, 'previous')) end
      ], null))
    from private.start_webhook_messages(v_ids, p_worker_id, p_lease_seconds) as started
    join public.webhooks as webhook on webhook.id = started.webhook_id;
end;
$$;
comment on function private.claim_webhook_messages(text, int, int) is
  'Claims messages that are due, in turn among owners and then among their webhooks: at most eight of one owner and four of one webhook at a time. Returns what their requests need, including the secrets. Called by supaswarm-webhooks.';

create function private.webhook_pause(p_attempts int, p_retry_after_seconds numeric)
returns interval
language plpgsql
volatile
set search_path = ''
as $$
declare
  -- Seconds between attempts, about a day in total.
  v_pauses constant int[] := array[5, 30, 120, 600, 1800, 3600, 7200, 14400, 21600, 36000];
begin
  if p_attempts > cardinality(v_pauses) then
    return null;
  end if;
  return make_interval(secs => greatest(
    v_pauses[p_attempts] * (0.9 + 0.2 * random()),
    least(coalesce(p_retry_after_seconds, 0), 36000)
  ));
end;
$$;
comment on function private.webhook_pause(int, numeric) is
  'Seconds to wait after this many failed attempts, at least as long as the receiver requested (at most ten hours). Null after the last attempt, about a day after the first.';

create function private.record_webhook_attempt(
  p_message_id uuid, p_epoch bigint, p_duration_ms int, p_status int, p_error jsonb,
  p_retry_after_seconds numeric
)
returns text
language plpgsql
set search_path = ''
as $$
declare
  v_message public.webhook_messages := private.hold_webhook_message(p_message_id, p_epoch, null);
  v_pause constant interval := private.webhook_pause(v_message.attempts + 1, p_retry_after_seconds);
  v_entry constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'at', clock_timestamp(), 'duration_ms', p_duration_ms, 'status', p_status,
    'error', jsonb_build_object('code', p_error -> 'code', 'message', p_error -> 'message')));
  v_is_active boolean;
begin
  update public.webhook_messages
  set log = case when jsonb_array_length(log) >= 20 then log - 0 else log end
        || case when p_error is null then v_entry - 'error' else v_entry end,
      attempts = attempts + case when p_error is null then 0 else 1 end,
      error = p_error,
      deliveries = 0
  where id = v_message.id;
  update public.webhooks
  set is_active = is_active and p_status is distinct from 410,
      last_error = p_error,
      last_delivered_at = case when p_error is null then clock_timestamp() else last_delivered_at end
  where id = v_message.webhook_id
  returning is_active into v_is_active;
  if p_error is null then
    update public.webhook_messages
    set status = 'delivered', finished_at = clock_timestamp(), worker_id = null, lease_expires_at = null
    where id = v_message.id;
    return 'delivered';
  end if;
  if v_pause is null or not v_is_active then
    perform private.bury_webhook_message(v_message.id, p_error);
    return 'failed';
  end if;
  perform private.release_webhook_message(v_message.id, clock_timestamp() + v_pause);
  return 'pending';
end;
$$;
comment on function private.record_webhook_attempt(uuid, bigint, int, int, jsonb, numeric) is
  'Stores the result of an attempt (p_error null: delivered) and what follows: the end, another attempt later, or a dead letter. The HTTP status 410 (Gone) deactivates the webhook. Returns the message''s status. Raises LEASE_LOST. Called by supaswarm-webhooks.';

create function private.bury_messages_of_stopped_webhook()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  update public.webhook_messages
  set status = 'failed', finished_at = clock_timestamp(), run_after = null, error = private.webhook_stopped_error()
  where webhook_id = new.id and status = 'pending';
  return null;
end;
$$;
comment on function private.bury_messages_of_stopped_webhook() is
  'Row trigger: turns the unsent messages of a deactivated webhook into dead letters. Definer: users may not write messages.';
create trigger webhooks_bury_messages after update of is_active on public.webhooks
  for each row when (old.is_active and not new.is_active)
  execute function private.bury_messages_of_stopped_webhook();

-- Sending them again --------------------------------------------------------------------------------

create function private.send_message_again(p_message_id uuid)
returns text
language plpgsql
set search_path = ''
as $$
declare
  v_status text;
begin
  if not exists (
    select from public.webhook_messages as message
    join public.webhooks as webhook on webhook.id = message.webhook_id
    where message.id = p_message_id and webhook.is_active
  ) then
    perform private.raise_error('WEBHOOK_INACTIVE', 'Cannot send the message again: its webhook is not active',
      'Set webhooks.is_active first.');
  end if;
  update public.webhook_messages
  set status = 'pending', attempts = 0, deliveries = 0, finished_at = null, run_after = null
  where id = p_message_id and status <> 'running';
  select status into v_status from public.webhook_messages where id = p_message_id;
  return v_status;
end;
$$;
comment on function private.send_message_again(uuid) is
  'Queues a message of an active webhook again, unless it is being sent, and returns its status. Raises WEBHOOK_INACTIVE.';

create function private.resend_webhook_message(p_message_id uuid)
returns text
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_webhook public.webhooks;
begin
  perform private.assert_person_may('send the message again', 'swarm:run');
  select webhook.* into v_webhook
  from public.webhook_messages as message
  join public.webhooks as webhook on webhook.id = message.webhook_id
  where message.id = p_message_id
  for no key update of message;
  if not found or not (private.is_service_caller() or v_webhook.created_by is not distinct from auth.uid()) then
    perform private.raise_error('WEBHOOK_NOT_FOUND',
      format('Cannot send the message again: no message of your webhooks has the id %s', p_message_id),
      'Read the ids from the table webhook_messages.');
  end if;
  return private.send_message_again(p_message_id);
end;
$$;
comment on function private.resend_webhook_message(uuid) is
  'See public.resend_webhook_message(). Definer: users may not write messages; the function checks the caller.';

create function public.resend_webhook_message(p_message_id uuid)
returns text
language sql
set search_path = ''
as $$
  select private.resend_webhook_message(p_message_id);
$$;
comment on function public.resend_webhook_message(uuid) is
  'Sends a message of a webhook again, with the same webhook-id: a dead letter, a delivered message, or a message that waits for its next attempt, which is then sent immediately. Returns its status. For the owner, the owner''s OAuth clients with the scope swarm:run and the service. Raises WEBHOOK_NOT_FOUND, WEBHOOK_INACTIVE, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.resend_webhook_message(uuid) from public, anon, authenticated, service_role;
grant execute on function private.resend_webhook_message(uuid), public.resend_webhook_message(uuid)
  to authenticated, service_role;

create function private.delete_old_webhook_messages()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_count int;
begin
  delete from public.webhook_messages
  where id in (
    select id from public.webhook_messages
    where finished_at < clock_timestamp() - interval '30 days'
    order by finished_at
    limit 10000
  );
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_old_webhook_messages() is
  'Deletes up to 10,000 messages that ended more than 30 days ago, and returns how many. Called by cron.';
select cron.schedule('supaswarm-delete-webhook-messages', '27 * * * *', 'select private.delete_old_webhook_messages()');
