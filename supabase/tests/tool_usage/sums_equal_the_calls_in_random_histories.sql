begin;
set local search_path = public, extensions;
select plan(18);

-- Every call that was ever made, with its last grade; retention deletes nothing here.
create temp table made (
  id uuid primary key, token uuid, day date, agent_slug text, tool_name text, tool_version text, status text, is_cancelled boolean,
  attempt int, ms int, rating text, score int, inside_calls int, inside_cost int, unpriced int
) on commit drop;
update private.exports set exported_until = (now() + interval '1 day')::date;
insert into private.settings (key, value) values ('keep_executions_days', '20') on conflict (key) do update set value = excluded.value;

create function pg_temp.make_call(p_at timestamptz) returns void language plpgsql as $$
declare
  v_call record;
begin
  select gen_random_uuid() as id, gen_random_uuid() as token, (array['writer', 'reader', null])[ceil(random() * 3)] as agent_slug,
    (array['search', 'fetch'])[ceil(random() * 2)] as tool_name, (array['1', '2', null])[ceil(random() * 3)] as tool_version,
    (array['success', 'success', 'success', 'error', 'timeout'])[ceil(random() * 5)] as status, random() < 0.3 as is_cancelled,
    ceil(random() * 2)::int as attempt, (random() ^ 4 * 20000)::int as ms, floor(random() * 3)::int as inside_calls
  into v_call;
  insert into public.mcp_executions (id, feedback_token, mcp_name, tool_name, tool_version, agent_id, execution_time_ms, status, error_message, attempt, created_at)
  values (v_call.id, v_call.token, 'notes', v_call.tool_name, v_call.tool_version, (select id from public.agents where slug = v_call.agent_slug),
    v_call.ms, v_call.status, case when v_call.status <> 'success' then 'It broke' end, v_call.attempt, p_at);
  v_call.is_cancelled := v_call.is_cancelled and v_call.status <> 'success';
  if v_call.status <> 'success' then
    insert into public.mcp_failures (execution_id, error_type, error_code)
    values (v_call.id, 'tool_error', case when v_call.is_cancelled then 'TOOL_CANCELLED' else 'TOOL_FAILED' end);
  end if;
  insert into public.usage_events (execution_id, model, key_source, input_tokens, output_tokens, cost_micro_usd)
  select v_call.id, 'm', 'none', 1, 1, case n when 1 then 7 end from generate_series(1, v_call.inside_calls) as n;
  insert into made values (v_call.id, v_call.token, (p_at at time zone 'utc')::date, v_call.agent_slug, v_call.tool_name,
    v_call.tool_version, v_call.status, v_call.is_cancelled, v_call.attempt, private.rounded_ms(v_call.ms), null, null,
    v_call.inside_calls, case when v_call.inside_calls > 0 then 7 end, greatest(v_call.inside_calls - 1, 0));
end;
$$;

create function pg_temp.grade() returns void language plpgsql as $$
declare
  v_call made;
begin
  select made.* into v_call from made join public.mcp_executions using (id) order by random() limit 1;
  if found then
    v_call.rating := (array['up', 'down', v_call.rating])[ceil(random() * 3)];
    v_call.score := case when random() < 0.5 then ceil(random() * 5) else v_call.score end;
    if num_nonnulls(v_call.rating, v_call.score) > 0 then
      perform private.record_feedback(p_user_id => null, p_feedback_token => v_call.token, p_rating => v_call.rating,
        p_rating_score => v_call.score, p_comment => null);
      update made set rating = v_call.rating, score = v_call.score where id = v_call.id;
    end if;
  end if;
end;
$$;

create function pg_temp.history(p_seed float8) returns void language plpgsql as $$
declare
  v_at timestamptz := now() - interval '40 days';
begin
  perform setseed(p_seed);
  delete from public.mcp_executions;
  delete from public.usage_events;
  delete from public.tool_days;
  delete from made;
  update private.tool_days_mark set summed_until = '-infinity';
  for step in 1 .. 120 loop
    v_at := v_at + interval '1 minute' + random() * interval '12 hours';
    case ceil(random() * 8)
      when 1 then perform private.add_tool_calls(v_at);
      when 2 then perform private.delete_old_executions(10);
      when 3, 4 then perform pg_temp.grade();
      else perform pg_temp.make_call(v_at + n * interval '1 second') from generate_series(1, 3) as n;
    end case;
  end loop;
end;
$$;

create function pg_temp.check_history(p_seed float8) returns setof text language plpgsql as $$
begin
  perform tests.create_agent('writer'), tests.create_agent('reader');
  perform pg_temp.history(p_seed);
  return next results_eq(
    $q$select * from public.tool_usage order by 1, 2, 3, 4 nulls last$q$,
    $q$select day, 'notes', tool_name, tool_version, count(*), count(*) filter (where status = 'success'),
      count(*) filter (where status = 'error'), count(*) filter (where status = 'timeout'),
      (avg((status = 'success')::int) filter (where not is_cancelled))::numeric(5, 4),
      percentile_disc(0.5) within group (order by ms), percentile_disc(0.95) within group (order by ms), percentile_disc(0.99) within group (order by ms),
      count(*) filter (where rating = 'up'), count(*) filter (where rating = 'down'), avg(score)::numeric(3, 2),
      sum(inside_calls)::bigint, sum(inside_cost)::bigint, sum(unpriced)::bigint, null::bigint
    from made group by day, tool_name, tool_version order by 1, 2, 3, 4 nulls last$q$,
    format('history %s: tool_usage has all calls once', p_seed)
  );
  return next results_eq(
    $q$select * from public.agent_tool_usage order by 1, 2 nulls last, 3, 4$q$,
    $q$select day, agent_slug, 'notes', tool_name, count(*), count(*) filter (where status = 'success'),
      (avg((status = 'success')::int) filter (where not is_cancelled))::numeric(5, 4),
      (avg((status = 'success')::int) filter (where attempt = 1 and not is_cancelled))::numeric(5, 4),
      percentile_disc(0.5) within group (order by ms), percentile_disc(0.95) within group (order by ms), percentile_disc(0.99) within group (order by ms),
      count(*) filter (where rating = 'up'), count(*) filter (where rating = 'down'),
      sum(inside_calls)::bigint, sum(inside_cost)::bigint, sum(unpriced)::bigint, null::bigint
    from made group by day, agent_slug, tool_name order by 1, 2 nulls last, 3, 4$q$,
    format('history %s: agent_tool_usage has all calls once', p_seed)
  );
  return next cmp_ok((select count(*) from made), '>', (select count(*) from public.mcp_executions), 'retention has deleted calls');
end;
$$;
select pg_temp.check_history(n / 10.0) from generate_series(1, 6) as n;

select * from finish();
rollback;
