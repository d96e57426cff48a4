-- Webhooks: URLs that receive events of jobs. Their owners write the rows; triggers check them.

create table public.webhooks (
  id uuid primary key default gen_random_uuid(),
  created_by uuid default auth.uid() references auth.users (id) on delete cascade,
  owner_key uuid not null
    generated always as (coalesce(created_by, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
  name text check (length(name) between 1 and 100),
  url text not null,
  events text[] not null,
  includes_subtasks boolean not null default false,
  is_active boolean not null default true,
  client_id text,
  previous_secret_until timestamptz,
  last_delivered_at timestamptz,
  last_error jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
revoke all on public.webhooks from anon, authenticated, service_role;
create index webhooks_created_by_idx on public.webhooks (created_by);
create index webhooks_listening_idx on public.webhooks (owner_key) where is_active;
comment on table public.webhooks is
  'URLs that receive events of their owner''s jobs. Owners insert, update and delete their own rows; the platform writes client_id and the columns after it.';
comment on column public.webhooks.created_by is 'The owner; null: the service, whose webhooks receive events of jobs without an owner, and of alerts.';
comment on column public.webhooks.owner_key is 'created_by as a key that is never null, as in tasks.';
comment on column public.webhooks.url is 'An https URL on the public internet. The address that it resolves to is checked with every request.';
comment on column public.webhooks.events is 'Types of task_events: those of tasks and of reviews. For webhooks of the service also alert.raised and alert.cleared.';
comment on column public.webhooks.includes_subtasks is 'True: task events of subtasks are sent too. Review events of subtasks are always sent.';
comment on column public.webhooks.is_active is 'False when the owner, or the receiver''s answer 410, has stopped the webhook.';
comment on column public.webhooks.client_id is 'OAuth client that wrote the row. The webhook receives nothing once that client lacks swarm:run.';
comment on column public.webhooks.previous_secret_until is 'Until this time, messages are also signed with the previous secret.';
comment on column public.webhooks.last_error is 'Why the last attempt failed, {code, message, hint}; null after a successful delivery.';

create function private.webhook_secret_name(p_webhook_id uuid, p_generation text default 'current')
returns text
language sql
immutable
set search_path = ''
as $$
  select format('supaswarm/webhook/%s/%s', p_webhook_id, p_generation);
$$;
comment on function private.webhook_secret_name(uuid, text) is
  'The name in Vault of a webhook''s current or previous signing secret.';

create function private.new_webhook_secret()
returns text
language sql
volatile
set search_path = ''
as $$
  select 'whsec_' || encode(
    sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'utf8')), 'base64');
$$;
comment on function private.new_webhook_secret() is 'A random signing secret of 32 bytes, in the format of Standard Webhooks.';

create function private.assert_webhook_is_valid(p_webhook public.webhooks)
returns void
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_known constant text[] := array[
    'task.created', 'task.started', 'task.parked', 'task.resumed', 'task.retried',
    'task.completed', 'task.failed', 'task.cancelled', 'review.requested', 'review.answered', 'review.reopened'
  ] || case when p_webhook.created_by is null then array['alert.raised', 'alert.cleared'] else '{}'::text[] end;
  v_event text;
begin
  if p_webhook.url is null or length(p_webhook.url) > 2000 or p_webhook.url !~ '^https?://[^\s/?#@]+([/?#][^\s]*)?$' then
    perform private.raise_error('WEBHOOK_INVALID',
      format('Cannot save the webhook: url %s, which is not an absolute http(s) URL without user name and password',
        private.shown_value(p_webhook.url)),
      'Write an https URL that is reachable on the public internet.');
  end if;
  if coalesce(cardinality(p_webhook.events), 0) = 0
    or cardinality(p_webhook.events) > (select count(distinct event) from unnest(p_webhook.events) as event)
  then
    perform private.raise_error('WEBHOOK_INVALID',
      format('Cannot save the webhook: its events are %s', coalesce(left(p_webhook.events::text, 200), 'missing')),
      format('Name one or more of %s, each once.', array_to_string(v_known, ', ')));
  end if;
  foreach v_event in array p_webhook.events loop
    perform private.assert_no_problem(
      private.choice_problem('events', v_event, v_known), 'WEBHOOK_INVALID', 'save the webhook');
  end loop;
end;
$$;
comment on function private.assert_webhook_is_valid(public.webhooks) is
  'Raises WEBHOOK_INVALID for an invalid URL and for unknown events. The address behind the URL is checked with each request.';

create function private.check_webhook()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.assert_person_may('save the webhook', 'swarm:run');
  perform private.assert_webhook_is_valid(new);
  if tg_op = 'INSERT' then
    perform private.assert_rows_within_bound('public.webhooks', 'active_webhooks', new.created_by, 'save the webhook');
  end if;
  if new.is_active then
    perform private.assert_active_rows_within_quota(
      'public.webhooks', 'active_webhooks', new.created_by, new.id, 'activate the webhook');
  end if;
  if private.calling_actor() = 'client' then
    new.client_id := private.request_claims() ->> 'client_id';
  end if;
  new.updated_at := clock_timestamp();
  return new;
end;
$$;
comment on function private.check_webhook() is
  'Row trigger of webhooks, before an owner''s write. Raises WEBHOOK_INVALID, QUOTA_EXCEEDED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE. Definer: users may not read the data that the check needs.';
create trigger webhooks_check_insert before insert on public.webhooks
  for each row execute function private.check_webhook();
create trigger webhooks_check_update
  before update of created_by, name, url, events, includes_subtasks on public.webhooks
  for each row execute function private.check_webhook();
create trigger webhooks_check_activation
  before update of is_active on public.webhooks
  for each row when (new.is_active and not old.is_active) execute function private.check_webhook();

create trigger webhooks_check_deletion before delete on public.webhooks
  for each row execute function private.check_person_may('delete the webhook');
create trigger webhooks_check_stop before update of is_active on public.webhooks
  for each row when (not new.is_active and old.is_active) execute function private.check_person_may('stop the webhook');

create function private.create_webhook_secret()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.set_secret(private.webhook_secret_name(new.id), private.new_webhook_secret(), 'Signs the messages of a webhook');
  return null;
end;
$$;
comment on function private.create_webhook_secret() is
  'Row trigger: creates the signing secret of a new webhook; rotate_webhook_secret() returns a readable one. Definer: users may not write to Vault.';
create trigger webhooks_create_secret after insert on public.webhooks
  for each row execute function private.create_webhook_secret();

create function private.delete_webhook_secrets()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from vault.secrets where name like format('supaswarm/webhook/%s/%%', old.id);
  return null;
end;
$$;
comment on function private.delete_webhook_secrets() is
  'Row trigger: deletes a webhook''s secrets from Vault with its row. Definer: users may not write to Vault.';
create trigger webhooks_delete_secrets after delete on public.webhooks
  for each row execute function private.delete_webhook_secrets();

create function private.own_webhook(p_webhook_id uuid, p_attempt text)
returns public.webhooks
language plpgsql
set search_path = ''
as $$
declare
  v_webhook public.webhooks;
begin
  select * into v_webhook from public.webhooks where id = p_webhook_id for no key update;
  if not found or not (private.is_service_caller() or v_webhook.created_by is not distinct from auth.uid()) then
    perform private.raise_error('WEBHOOK_NOT_FOUND',
      format('Cannot %s: you have no webhook with the id %s', p_attempt, p_webhook_id),
      'Read the ids from the table webhooks.');
  end if;
  return v_webhook;
end;
$$;
comment on function private.own_webhook(uuid, text) is
  'Locks and returns a webhook of the caller; the service may use any. Raises WEBHOOK_NOT_FOUND.';

create function private.rotate_webhook_secret(p_webhook_id uuid, p_secret text)
returns text
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_secret constant text := coalesce(p_secret, private.new_webhook_secret());
begin
  perform private.assert_person_may('rotate the secret of the webhook', 'credentials:write');
  perform private.own_webhook(p_webhook_id, 'rotate the secret of the webhook');
  -- 24 to 64 bytes in base64, the format of Standard Webhooks.
  if v_secret !~ '^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$' then
    perform private.raise_error('SECRET_INVALID',
      'Cannot rotate the secret of the webhook: it does not have the form of Standard Webhooks',
      'Send whsec_ and 24 to 64 random bytes in base64, or omit p_secret to generate one.');
  end if;
  perform private.set_secret(private.webhook_secret_name(p_webhook_id, 'previous'),
    private.secret_value(private.webhook_secret_name(p_webhook_id)), 'Signs the messages of a webhook for a day more');
  perform private.set_secret(private.webhook_secret_name(p_webhook_id), v_secret, 'Signs the messages of a webhook');
  update public.webhooks
  set previous_secret_until = clock_timestamp() + interval '1 day', updated_at = clock_timestamp()
  where id = p_webhook_id;
  return v_secret;
end;
$$;
comment on function private.rotate_webhook_secret(uuid, text) is
  'See public.rotate_webhook_secret(). Definer: users may not write to Vault; assert_person_may() and own_webhook() check the caller.';

create function public.rotate_webhook_secret(p_webhook_id uuid, p_secret text default null)
returns text
language sql
set search_path = ''
as $$
  select private.rotate_webhook_secret(p_webhook_id, p_secret);
$$;
comment on function public.rotate_webhook_secret(uuid, text) is
  'Gives a webhook a new signing secret, or the given one, and returns it. It cannot be read again later. For one day messages are also signed with the previous secret. For the owner, the owner''s OAuth clients with the scope credentials:write and the service. Raises WEBHOOK_NOT_FOUND, SECRET_INVALID, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.rotate_webhook_secret(uuid, text) from public, anon, authenticated, service_role;
grant execute on function private.rotate_webhook_secret(uuid, text), public.rotate_webhook_secret(uuid, text)
  to authenticated, service_role;

alter table public.webhooks enable row level security;
create policy "owners read their webhooks" on public.webhooks
  for select to authenticated using (
    created_by = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "owners read their webhooks" on public.webhooks is 'Owners read their webhooks; no column contains a secret.';
create policy "owners add webhooks" on public.webhooks
  for insert to authenticated with check (
    created_by = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "owners add webhooks" on public.webhooks is 'Owners add webhooks only for themselves; check_webhook() checks the row.';
create policy "owners change their webhooks" on public.webhooks
  for update to authenticated using (
    created_by = (select auth.uid()) and (select private.has_scope('swarm:run'))
  )
  with check (created_by = (select auth.uid()));
comment on policy "owners change their webhooks" on public.webhooks is 'Owners change only the columns that are granted.';
create policy "owners delete their webhooks" on public.webhooks
  for delete to authenticated using (
    created_by = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "owners delete their webhooks" on public.webhooks is 'Owners delete their webhooks, with messages and secrets.';
grant select, delete on public.webhooks to authenticated;
grant insert (created_by, name, url, events, includes_subtasks, is_active) on public.webhooks to authenticated;
grant update (name, url, events, includes_subtasks, is_active) on public.webhooks to authenticated;
grant select, insert, update, delete on public.webhooks to service_role;
