-- Lists and counts of jobs, filtered in the database and returned in pages.

create type private.job_filters as (
  owner_id uuid,
  statuses text[],
  agents text[],
  error_codes text[],
  causes text[],
  metadata jsonb,
  created_from timestamptz,
  created_to timestamptz,
  first_id uuid,
  last_id uuid,
  id_suffix text,
  min_cost_micro_usd bigint,
  max_cost_micro_usd bigint
);
comment on type private.job_filters is
  'The filters of a list of jobs; null does not limit. A null owner_id stands for all owners, so the code that sets it must have checked the caller.';

create function private.raise_query_invalid(p_attempt text, p_problem text, p_hint text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform private.raise_error('QUERY_INVALID', format('Cannot %s: %s', p_attempt, p_problem), p_hint);
end;
$$;
comment on function private.raise_query_invalid(text, text, text) is 'Raises QUERY_INVALID.';

create function private.assert_page_limit(p_attempt text, p_limit int)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    perform private.raise_query_invalid(p_attempt, 'p_limit is not from 1 to 1000', 'Send a limit from 1 to 1000.');
  end if;
end;
$$;
comment on function private.assert_page_limit(text, int) is 'Raises QUERY_INVALID unless the limit of a page is from 1 to 1000.';

create function private.texts_of(p_value jsonb)
returns text[]
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case jsonb_typeof(p_value)
    when 'string' then array[p_value #>> '{}']
    when 'array' then array(select jsonb_array_elements_text(p_value))
  end;
end;
$$;
comment on function private.texts_of(jsonb) is 'A text or an array of texts as an array; null for anything else.';

create function private.first_id_with(p_prefix text, p_filler text)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return rpad(replace(p_prefix, '-', ''), 32, p_filler)::uuid;
end;
$$;
comment on function private.first_id_with(text, text) is
  'The prefix of a UUID, padded to a complete UUID: with 0 the smallest, with f the largest with this prefix.';

create function private.job_filters_of(p_attempt text, p_filters jsonb)
returns private.job_filters
language plpgsql
stable
set search_path = ''
as $$
declare
  v_known constant text[] := array[
    'status', 'agent', 'error_code', 'metadata', 'created_from', 'created_to', 'id_prefix', 'id_suffix',
    'min_cost_micro_usd', 'max_cost_micro_usd'
  ];
  v_given constant jsonb := coalesce(jsonb_strip_nulls(nullif(p_filters, 'null')), '{}');
  v_filters private.job_filters;
  v_unknown text;
begin
  if jsonb_typeof(v_given) <> 'object' then
    perform private.raise_query_invalid(p_attempt, 'the filters are not an object',
      'Send an object with any of ' || array_to_string(v_known, ', ') || '.');
  end if;
  v_unknown := (select key from jsonb_object_keys(v_given) as key where key <> all (v_known) limit 1);
  if v_unknown is not null then
    perform private.raise_query_invalid(p_attempt, format('there is no filter "%s"', left(v_unknown, 100)),
      'Filters are ' || array_to_string(v_known, ', ') || '.');
  end if;
  if jsonb_typeof(v_given -> 'metadata') <> 'object'
    or v_given ->> 'id_prefix' !~* '^[0-9a-f-]{1,36}$'
    or v_given ->> 'id_suffix' !~* '^[0-9a-f-]{1,36}$'
  then
    perform private.raise_query_invalid(p_attempt, 'a filter has the wrong form',
      'metadata is an object of values, id_prefix the first and id_suffix the last characters of an id.');
  end if;
  begin
    v_filters.statuses := private.texts_of(v_given -> 'status');
    v_filters.agents := private.texts_of(v_given -> 'agent');
    v_filters.error_codes := private.texts_of(v_given -> 'error_code');
    v_filters.metadata := v_given -> 'metadata';
    v_filters.created_from := (v_given ->> 'created_from')::timestamptz;
    v_filters.created_to := (v_given ->> 'created_to')::timestamptz;
    v_filters.first_id := private.first_id_with(v_given ->> 'id_prefix', '0');
    v_filters.last_id := private.first_id_with(v_given ->> 'id_prefix', 'f');
    v_filters.id_suffix := lower(v_given ->> 'id_suffix');
    v_filters.min_cost_micro_usd := (v_given ->> 'min_cost_micro_usd')::bigint;
    v_filters.max_cost_micro_usd := (v_given ->> 'max_cost_micro_usd')::bigint;
  exception when data_exception then
    perform private.raise_query_invalid(p_attempt, 'a filter has the wrong form',
      'Send times as ISO 8601, costs as whole numbers of millionths of a US dollar.');
  end;
  if v_given ? 'status' and v_filters.statuses is null or v_given ? 'agent' and v_filters.agents is null
    or v_given ? 'error_code' and v_filters.error_codes is null
  then
    perform private.raise_query_invalid(p_attempt, 'a filter has the wrong form',
      'status, agent and error_code are a text or an array of texts.');
  end if;
  return v_filters;
end;
$$;
comment on function private.job_filters_of(text, jsonb) is
  'Reads the filters of a list of jobs, for all owners. Raises QUERY_INVALID for an unknown filter or an invalid value.';

create function private.own_job_filters(p_attempt text, p_filters jsonb)
returns private.job_filters
language plpgsql
stable
set search_path = ''
as $$
declare
  v_filters private.job_filters;
begin
  perform private.assert_has_scope(p_attempt, 'swarm:run');
  if auth.uid() is null then
    perform private.raise_error('FORBIDDEN', format('Cannot %s: the caller is not a user', p_attempt),
      'Call it with a user''s token.');
  end if;
  v_filters := private.job_filters_of(p_attempt, p_filters);
  v_filters.owner_id := auth.uid();
  return v_filters;
end;
$$;
comment on function private.own_job_filters(text, jsonb) is
  'The filters of a list of the caller''s own jobs. Raises INSUFFICIENT_SCOPE, FORBIDDEN, QUERY_INVALID.';

create type public.job_summary as (
  id uuid,
  created_by uuid,
  owner_email text,
  agent_slug text,
  status text,
  input_head text,
  metadata jsonb,
  priority text,
  budget jsonb,
  error jsonb,
  task_count int,
  open_review_count bigint,
  input_tokens bigint,
  output_tokens bigint,
  cost_micro_usd bigint,
  run_after timestamptz,
  cancel_requested_at timestamptz,
  created_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz
);
comment on type public.job_summary is 'A row of operator_list_jobs(). list_jobs() omits the owner.';

create function private.cause_of(p_error jsonb)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return left(regexp_replace(
    regexp_replace(p_error ->> 'message', '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', '…', 'gi'), '[0-9]+([.,][0-9]+)*', '#', 'g'
  ), 200);
end;
$$;
comment on function private.cause_of(jsonb) is
  'The message of a task''s error without what differs between equal failures: ids are … and numbers #. Null without a message.';

create function private.job_conditions()
returns text
language sql
immutable
set search_path = ''
as $function$
  select $sql$
    job.parent_id is null
    and (($1).owner_id is null or job.created_by = ($1).owner_id)
    and (($1).statuses is null or job.status = any (($1).statuses))
    and (($1).agents is null or job.agent_slug = any (($1).agents))
    and (($1).error_codes is null or job.error ->> 'code' = any (($1).error_codes))
    and (($1).causes is null or private.cause_of(job.error) = any (($1).causes))
    and (($1).created_from is null or job.created_at >= ($1).created_from)
    and (($1).created_to is null or job.created_at < ($1).created_to)
    and (($1).first_id is null or job.id between ($1).first_id and ($1).last_id)
    and (($1).id_suffix is null or right(job.id::text, length(($1).id_suffix)) = ($1).id_suffix)
    -- Compare as text, so that "5" also finds 5.
    and (($1).metadata is null or not exists (
      select from jsonb_each_text(($1).metadata) as wanted
      where job.metadata ->> wanted.key is distinct from wanted.value
    ))
    and (($1).min_cost_micro_usd is null or exists (
      select from private.job_totals as total
      where total.master_task_id = job.id and total.cost_micro_usd >= ($1).min_cost_micro_usd
    ))
    and (($1).max_cost_micro_usd is null or exists (
      select from private.job_totals as total
      where total.master_task_id = job.id and total.cost_micro_usd <= ($1).max_cost_micro_usd
    ))
  $sql$;
$function$;
comment on function private.job_conditions() is
  'The conditions of a list of jobs on public.tasks as job, where $1 is private.job_filters. For "execute", which plans each list again, so that unset filters are not in the plan and a list without error codes, metadata and costs is an index-only scan.';

create function private.job_summaries(p_filters private.job_filters, p_before jsonb, p_limit int)
returns setof public.job_summary
language plpgsql
stable
set search_path = ''
as $$
declare
  v_before_at timestamptz;
  v_before_id uuid;
begin
  perform private.assert_page_limit('list the jobs', p_limit);
  begin
    v_before_at := (p_before ->> 'created_at')::timestamptz;
    v_before_id := (p_before ->> 'id')::uuid;
  exception when data_exception then
    v_before_at := null;
  end;
  if nullif(p_before, 'null') is not null and (v_before_at is null or v_before_id is null) then
    perform private.raise_query_invalid('list the jobs', 'p_before is not a job of an earlier page',
      'Send the last row of the page before, or its created_at and id.');
  end if;
  return query execute format(
    $sql$
      with page as materialized (
        select job.id
        from public.tasks as job
        where %s and ($2 is null or (job.created_at, job.id) < ($2, $3))
        order by job.created_at desc, job.id desc
        limit $4
      )
      select job.id, job.created_by, account.email::text, job.agent_slug, job.status,
        -- Do not read a long input only for its beginning.
        case when pg_column_size(job.input) <= 8192 then left(job.input #>> '{}', 200) end,
        job.metadata, job.priority, job.budget, job.error,
        coalesce(total.task_count, 1), review.open_count,
        coalesce(total.input_tokens, 0), coalesce(total.output_tokens, 0), total.cost_micro_usd,
        nullif(job.run_after, private.end_of_pauses()), job.cancel_requested_at, job.created_at, job.started_at, job.finished_at
      from page
      join public.tasks as job on job.id = page.id
      left join private.job_totals as total on total.master_task_id = job.id
      left join auth.users as account on account.id = job.created_by
      cross join lateral (
        select count(*) as open_count
        from public.tasks as task
        where task.master_task_id = job.id and task.status = 'needs_human_review'
      ) as review
      order by job.created_at desc, job.id desc
    $sql$,
    private.job_conditions()
  )
  using p_filters, v_before_at, v_before_id, p_limit;
end;
$$;
comment on function private.job_summaries(private.job_filters, jsonb, int) is
  'A page of jobs, newest first, after the job p_before {created_at, id}. input_head is null for a long input. Raises QUERY_INVALID.';

create type public.job_status_count as (
  status text,
  job_count bigint
);
comment on type public.job_status_count is 'A row of job_counts().';

create function private.job_status_counts(p_filters private.job_filters)
returns setof public.job_status_count
language plpgsql
stable
set search_path = ''
as $$
begin
  return query execute format(
    'select job.status, count(*) from public.tasks as job where %s group by job.status order by job.status',
    private.job_conditions()
  )
  using p_filters;
end;
$$;
comment on function private.job_status_counts(private.job_filters) is
  'How many jobs have each status; statuses without jobs are omitted.';

create function private.list_jobs(p_filters jsonb, p_before jsonb, p_limit int)
returns setof public.job_summary
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return query
    select * from private.job_summaries(private.own_job_filters('list the jobs', p_filters), p_before, p_limit);
end;
$$;
comment on function private.list_jobs(jsonb, jsonb, int) is
  'A page of the caller''s jobs. Definer: users may not read job_totals, and checking the caller only once keeps the list fast with 100,000 jobs; own_job_filters() limits it to the caller.';

create function public.list_jobs(p_filters jsonb default '{}', p_before jsonb default null, p_limit int default 50)
returns table (
  id uuid,
  agent_slug text,
  status text,
  input_head text,
  metadata jsonb,
  priority text,
  budget jsonb,
  error jsonb,
  task_count int,
  open_review_count bigint,
  input_tokens bigint,
  output_tokens bigint,
  cost_micro_usd bigint,
  run_after timestamptz,
  cancel_requested_at timestamptz,
  created_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz
)
language sql
stable
set search_path = ''
as $$
  select job.id, job.agent_slug, job.status, job.input_head, job.metadata, job.priority, job.budget, job.error,
    job.task_count, job.open_review_count, job.input_tokens, job.output_tokens, job.cost_micro_usd,
    job.run_after, job.cancel_requested_at, job.created_at, job.started_at, job.finished_at
  from private.list_jobs(p_filters, p_before, p_limit) as job;
$$;
comment on function public.list_jobs(jsonb, jsonb, int) is
  'The caller''s jobs, newest first, with the cost of each and the number of its open reviews. Filters: status, agent and error_code (a text or several), metadata (an object), created_from, created_to, id_prefix, id_suffix, min_cost_micro_usd, max_cost_micro_usd. p_before is the last row of the previous page. Raises QUERY_INVALID, INSUFFICIENT_SCOPE.';
revoke all on function public.list_jobs(jsonb, jsonb, int) from public, anon, authenticated, service_role;
grant execute on function private.list_jobs(jsonb, jsonb, int), public.list_jobs(jsonb, jsonb, int) to authenticated;

create function private.job_counts(p_filters jsonb)
returns setof public.job_status_count
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return query select * from private.job_status_counts(private.own_job_filters('count the jobs', p_filters));
end;
$$;
comment on function private.job_counts(jsonb) is
  'Counts of the caller''s jobs. Definer, like list_jobs(); own_job_filters() limits it to the caller.';

create function public.job_counts(p_filters jsonb default '{}')
returns setof public.job_status_count
language sql
stable
set search_path = ''
as $$
  select * from private.job_counts(p_filters);
$$;
comment on function public.job_counts(jsonb) is
  'How many of the caller''s jobs have each status, among those that match the filters of list_jobs(). Raises QUERY_INVALID, INSUFFICIENT_SCOPE.';
revoke all on function public.job_counts(jsonb) from public, anon, authenticated, service_role;
grant execute on function private.job_counts(jsonb), public.job_counts(jsonb) to authenticated;
