-- Grades: how users rate the results of tool calls.

create table public.mcp_feedback (
  id uuid primary key default gen_random_uuid(),
  feedback_token uuid not null,
  execution_id uuid not null references public.mcp_executions (id) on delete cascade,
  user_id uuid references auth.users (id) on delete cascade,
  rating text check (rating in ('up', 'down')),
  rating_score int check (rating_score >= 1 and rating_score <= 5),
  comment text check (length(comment) between 1 and 2000),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint mcp_feedback_one_grade unique nulls not distinct (feedback_token, user_id),
  constraint mcp_feedback_says_something check (num_nonnulls(rating, rating_score, comment) > 0)
);
revoke all on public.mcp_feedback from anon, authenticated, service_role;
create index mcp_feedback_execution_id_idx on public.mcp_feedback (execution_id);
create index mcp_feedback_user_id_idx on public.mcp_feedback (user_id, created_at);
create index mcp_feedback_updated_at_idx on public.mcp_feedback (updated_at, id);
create index mcp_failures_created_at_idx on public.mcp_failures (created_at, id);
create index mcp_executions_created_at_idx on public.mcp_executions (created_at);
create index usage_events_execution_id_idx on public.usage_events (execution_id) where execution_id is not null;
comment on table public.mcp_feedback is
  'Grades of tool calls, one per call and user, in two systems: a thumb, and one to five stars. Written only by the function mcp-feedback.';
comment on column public.mcp_feedback.feedback_token is 'From _meta.feedback_token of the call''s result.';
comment on column public.mcp_feedback.user_id is 'The user who graded, on whose behalf the call ran; null: the service.';
comment on column public.mcp_feedback.created_at is 'Time of the first grade, which can be changed for 24 hours.';
comment on column public.mcp_feedback.updated_at is 'Time of the last change. The export writes the grade to the file of this day.';

alter table public.mcp_feedback enable row level security;
create policy "users read their own grades" on public.mcp_feedback
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "users read their own grades" on public.mcp_feedback is
  'Lets a client show or change a grade.';
grant select on public.mcp_feedback to authenticated, service_role;

create function private.record_feedback(
  p_user_id uuid, p_feedback_token uuid, p_rating text, p_rating_score int, p_comment text
)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  c_changeable_for constant interval := '24 hours'::interval;
  v_now timestamptz := clock_timestamp();
  v_execution_id uuid;
  v_old public.mcp_feedback;
  v_new public.mcp_feedback;
begin
  perform private.assert_room_left('ledger_bytes', p_user_id, 'grade the tool call');
  -- A concurrent grade of the same call waits here.
  select execution.id into v_execution_id
  from public.mcp_executions execution
  where execution.feedback_token = record_feedback.p_feedback_token
    and execution.user_id is not distinct from record_feedback.p_user_id
  for no key update;
  if not found then
    perform private.raise_error('FEEDBACK_TOKEN_NOT_FOUND',
      'Cannot grade the tool call: you made no call with this feedback_token',
      'Send the _meta.feedback_token of a result that you received yourself.');
  end if;

  select feedback.* into v_old
  from public.mcp_feedback feedback
  where feedback.feedback_token = record_feedback.p_feedback_token
    and feedback.user_id is not distinct from record_feedback.p_user_id;
  if v_old.created_at + c_changeable_for <= v_now then
    perform private.raise_error('FEEDBACK_CLOSED',
      format('Cannot change the grade: it was given at %s, more than 24 hours ago',
        to_char(v_old.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')),
      'Grade a newer call of the tool.');
  end if;

  insert into public.mcp_feedback as feedback (
    feedback_token, execution_id, user_id, rating, rating_score, comment, created_at, updated_at
  )
  values (
    p_feedback_token, v_execution_id, p_user_id, p_rating, p_rating_score, p_comment, v_now, v_now
  )
  on conflict on constraint mcp_feedback_one_grade do update
  set rating = coalesce(excluded.rating, feedback.rating),
      rating_score = coalesce(excluded.rating_score, feedback.rating_score),
      comment = coalesce(excluded.comment, feedback.comment),
      updated_at = excluded.updated_at
  returning feedback.* into v_new;
  perform private.count_grade(p_old => v_old, p_new => v_new);

  if v_new.rating = 'down' and v_old.rating is distinct from 'down' then
    perform private.delete_parameters(v_execution_id);
  end if;
  return jsonb_build_object(
    'feedback_token', v_new.feedback_token,
    'execution_id', v_new.execution_id,
    'rating', v_new.rating,
    'rating_score', v_new.rating_score,
    'comment', v_new.comment,
    'changeable_until', to_char((v_new.created_at + c_changeable_for) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  );
end;
$$;
comment on function private.record_feedback(uuid, uuid, text, int, text) is
  'Grades a call of this user, or for a null user one of the service. Null fields keep their value. Returns the whole grade. When a thumb changes to down, the arguments that the call taught are deleted. Raises FEEDBACK_TOKEN_NOT_FOUND and, 24 hours after the first grade, FEEDBACK_CLOSED. Called by mcp-feedback.';
