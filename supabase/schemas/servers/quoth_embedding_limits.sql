-- Rate limits of embedders: texts per minute and per day, for all instances together.

create table private.embedding_buckets (
  embedder text primary key references public.embedders (name) on delete cascade,
  last_taken_at timestamptz not null default '-infinity',
  day_started_at timestamptz not null default '-infinity',
  day_item_count bigint not null default 0,
  day_document_count bigint not null default 0,
  paused_until timestamptz,
  pause_reason text check (pause_reason in ('rate_limited', 'quota_exhausted', 'refused')),
  pause_message text,
  check ((paused_until is null) = (pause_reason is null)),
  check ((pause_message is not null) = coalesce(pause_reason = 'refused', false))
);
comment on table private.embedding_buckets is
  'Usage of each embedder''s limits. The row is locked while tokens are taken.';
comment on column private.embedding_buckets.day_document_count is 'The part of day_item_count that was documents, not queries.';
comment on column private.embedding_buckets.paused_until is 'Nothing is sent to the provider before this time: it requested a wait, its quota is used up, or it refuses every request.';
comment on column private.embedding_buckets.pause_message is 'The provider''s message when it refuses every request.';

create table private.embedding_grants (
  id bigint generated always as identity primary key,
  embedder text not null references private.embedding_buckets (embedder) on delete cascade,
  granted_at timestamptz not null,
  item_count integer not null check (item_count > 0),
  is_query boolean not null
);
create index embedding_grants_embedder_idx on private.embedding_grants (embedder, granted_at);
comment on table private.embedding_grants is 'Grants of the last minute, whose sum counts against the limit per minute.';

alter table private.embedding_buckets enable row level security;
alter table private.embedding_grants enable row level security;
grant select on private.embedding_buckets, private.embedding_grants to service_role;

create function private.ms_between(p_from timestamptz, p_to timestamptz)
returns bigint
language sql
immutable
set search_path = ''
as $$
  select greatest(0, ceil(extract(epoch from ms_between.p_to - ms_between.p_from) * 1000))::bigint;
$$;
comment on function private.ms_between(timestamptz, timestamptz) is 'Milliseconds from one time to another, rounded up; 0 when p_to has passed.';

create function private.embedding_wait(p_embedder text, p_excess bigint, p_documents_only boolean)
returns timestamptz
language sql
stable
set search_path = ''
as $$
  with freed as (
    select earlier.granted_at, sum(earlier.item_count) over (order by earlier.granted_at, earlier.id) as item_count
    from private.embedding_grants as earlier
    where earlier.embedder = embedding_wait.p_embedder
      and not (embedding_wait.p_documents_only and earlier.is_query)
  )
  select min(freed.granted_at)
  from freed
  where embedding_wait.p_excess > 0 and freed.item_count >= embedding_wait.p_excess;
$$;
comment on function private.embedding_wait(text, bigint, boolean) is
  'The time of the grant with which p_excess items will have left the minute''s window; null when none need to.';

create function private.take_embedding_tokens(
  p_embedder text,
  p_items integer,
  p_is_query boolean,
  p_now timestamptz default null
)
returns table (granted integer, wait_ms bigint, paused_until timestamptz, pause_reason text, pause_message text)
language plpgsql
set search_path = ''
as $$
declare
  -- A second more than a minute, because requests may arrive in another order than they were sent.
  c_window constant interval := '61 seconds'::interval;
  v_limits public.embedders;
  v_bucket private.embedding_buckets;
  v_now timestamptz;
  v_day_start timestamptz;
  v_day_end timestamptz;
  v_all bigint := 0;
  v_documents bigint := 0;
  v_minute_room bigint := p_items;
  v_day_room bigint := p_items;
  v_granted integer;
  v_free_at timestamptz;
begin
  insert into private.embedding_buckets (embedder)
  select embedder.name from public.embedders as embedder where embedder.name = p_embedder
  on conflict (embedder) do nothing;
  select * into v_bucket from private.embedding_buckets as bucket where bucket.embedder = p_embedder for update;
  if not found then
    perform private.raise_error('EMBEDDER_NOT_FOUND',
      format('Cannot embed: there is no active embedder %L', p_embedder),
      'Read the names from the table embedders.');
  end if;
  select * into v_limits from public.embedders as embedder where embedder.name = p_embedder;

  -- Read under the lock. A clock that was set back must not create room.
  v_now := greatest(coalesce(p_now, clock_timestamp()), v_bucket.last_taken_at);
  if v_bucket.paused_until > v_now then
    return query select 0, private.ms_between(v_now, v_bucket.paused_until), v_bucket.paused_until, v_bucket.pause_reason,
      v_bucket.pause_message;
    return;
  end if;

  v_day_start := date_trunc('day', v_now at time zone v_limits.quota_time_zone) at time zone v_limits.quota_time_zone;
  v_day_end := (date_trunc('day', v_now at time zone v_limits.quota_time_zone) + interval '1 day') at time zone v_limits.quota_time_zone;
  if v_bucket.day_started_at is distinct from v_day_start then
    v_bucket.day_started_at := v_day_start;
    v_bucket.day_item_count := 0;
    v_bucket.day_document_count := 0;
  end if;

  delete from private.embedding_grants as earlier
  where earlier.embedder = p_embedder and earlier.granted_at <= v_now - c_window;
  if v_limits.items_per_minute is not null then
    select coalesce(sum(earlier.item_count), 0), coalesce(sum(earlier.item_count) filter (where not earlier.is_query), 0)
    into v_all, v_documents
    from private.embedding_grants as earlier
    where earlier.embedder = p_embedder;
    v_minute_room := v_limits.items_per_minute - v_all;
    if not p_is_query then
      v_minute_room := least(v_minute_room, v_limits.items_per_minute - v_limits.reserved_for_queries - v_documents);
    end if;
  end if;
  if v_limits.items_per_day is not null then
    v_day_room := v_limits.items_per_day - v_bucket.day_item_count;
    if not p_is_query then
      v_day_room := least(v_day_room, v_limits.items_per_day - v_bucket.day_document_count
        - ceil(v_limits.items_per_day * v_limits.reserved_for_queries::numeric / coalesce(v_limits.items_per_minute, 1))::bigint);
    end if;
  end if;

  v_granted := greatest(0, least(p_items, v_minute_room, v_day_room));
  update private.embedding_buckets as bucket
  set last_taken_at = v_now,
    day_started_at = v_bucket.day_started_at,
    day_item_count = v_bucket.day_item_count + v_granted,
    day_document_count = v_bucket.day_document_count + case when p_is_query then 0 else v_granted end,
    paused_until = null,
    pause_reason = null,
    pause_message = null
  where bucket.embedder = p_embedder;
  if v_granted > 0 and v_limits.items_per_minute is not null then
    insert into private.embedding_grants (embedder, granted_at, item_count, is_query)
    values (p_embedder, v_now, v_granted, p_is_query);
  end if;

  if v_granted >= p_items then
    return query select v_granted, 0::bigint, null::timestamptz, null::text, null::text;
  elsif v_day_room - v_granted <= 0 then
    return query select v_granted, private.ms_between(v_now, v_day_end), v_day_end, 'quota_exhausted'::text, null::text;
  else
    v_free_at := private.embedding_wait(p_embedder, v_all + v_granted + 1 - v_limits.items_per_minute, false);
    if not p_is_query then
      v_free_at := greatest(v_free_at, private.embedding_wait(
        p_embedder, v_documents + v_granted + 1 - (v_limits.items_per_minute - v_limits.reserved_for_queries), true));
    end if;
    return query select v_granted, private.ms_between(v_now, v_free_at + c_window), null::timestamptz, null::text, null::text;
  end if;
end;
$$;
comment on function private.take_embedding_tokens(text, integer, boolean, timestamptz) is
  'Reserves room for that many texts of an embedder, or for as many as there is room for; more room is available after wait_ms. Never grants more than items_per_minute in any minute. paused_until is set while the provider, the daily quota or a general refusal forbids all texts of this kind. Call it in its own transaction: the embedder''s row stays locked until the transaction ends. p_now is for tests.';

create function private.pause_embedder(p_embedder text, p_until timestamptz, p_reason text, p_message text default null)
returns timestamptz
language sql
set search_path = ''
as $$
  insert into private.embedding_buckets as bucket (embedder, paused_until, pause_reason, pause_message)
  values (pause_embedder.p_embedder, pause_embedder.p_until, pause_embedder.p_reason, pause_embedder.p_message)
  on conflict (embedder) do update
  set paused_until = excluded.paused_until, pause_reason = excluded.pause_reason, pause_message = excluded.pause_message
  where bucket.paused_until is null or bucket.paused_until < excluded.paused_until;

  select bucket.paused_until from private.embedding_buckets as bucket
  where bucket.embedder = pause_embedder.p_embedder;
$$;
comment on function private.pause_embedder(text, timestamptz, text, text) is
  'Pauses an embedder for all instances. The later of two ends applies and is returned. p_message is the provider''s message when it refuses every request.';
