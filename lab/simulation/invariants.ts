/** What must hold in every world, by name. `docs/decisions/proof.md` lists the same names. */

/** A violated invariant, with the ids it is about. */
export interface Violation {
  readonly name: string;
  readonly detail: string;
}

type Checks = Readonly<Record<string, readonly string[]>>;

/** Checked between transactions. Each query returns one text for each violation. */
const ALWAYS: Checks = {
  "a parent waits for its open children": [
    `select parent.id from public.tasks as parent
     where parent.pending_children <> (
       select count(*) from public.tasks as child
       where child.parent_id = parent.id and child.finished_at is null
     )`,
  ],
  "running tasks, and only they, have a lease": [
    `select id from public.tasks
     where (status = 'running') <> (lease_expires_at is not null and worker_id is not null)`,
  ],
  "a due task has a message": [
    `select id from public.tasks
     where status = 'pending'
       and not exists (
         select from pgmq.q_agent_tasks where message ->> 'task_id' = tasks.id::text
       )
       and (run_after is null or run_after < clock_timestamp() - interval '3 minutes')`,
  ],
  "a message has a pending task": [
    `select message.message ->> 'task_id' from pgmq.q_agent_tasks as message
     where not exists (
       select from public.tasks
       where status = 'pending' and id::text = message.message ->> 'task_id'
     )`,
  ],
  "parked work has something that wakes it": [
    `select id || ' ' || status from public.tasks as task
     where status = 'pending_subtask' and cancel_requested_at is null and not exists (
       select from public.tasks as child where child.parent_id = task.id and child.finished_at is null
     )`,
    `select id || ' ' || status from public.tasks as task
     where status = 'needs_human_review' and not exists (
       select from public.human_reviews where task_id = task.id and answered_at is null
     )`,
    `select task_id || ' ' || id from public.human_reviews as review
     where answered_at is null and not exists (
       select from public.tasks where id = review.task_id and finished_at is null
     )`,
  ],
  "a schedule has one run at a time": [
    `select run.metadata #>> '{schedule,id}' from public.tasks as run
     where run.metadata ? 'schedule' and run.finished_at is null and run.parent_id is null
       and not exists (
         select from public.task_events as again
         where again.task_id = run.id and again.type in ('task.retried', 'task.resumed')
           and again.payload ->> 'reason' in ('requested', 'continued')
       )
       and not exists (select from private.task_forks where fork_id = run.id)
     group by 1 having count(*) > 1`,
  ],
  "a job counts its tasks": [
    `select total.master_task_id from private.job_totals as total
     where total.task_count <> (
       select count(*) from public.tasks where master_task_id = total.master_task_id
     )`,
  ],
  "no task of paused work starts": [
    `select event.task_id || ' ' || pause.kind from public.task_events as event
     join public.tasks as task on task.id = event.task_id
     join private.pauses as pause
       on event.type in ('task.started', 'task.resumed') and event.payload ? 'worker_id'
       and event.at > pause.paused_at
       and (pause.kind in ('project', 'provider') or pause.name = task.agent_slug)`,
  ],
  "attempts and deliveries stay below their maximum": [
    `select id from public.tasks
     where attempts > coalesce(max_attempts, 5) or deliveries > max_deliveries`,
  ],
};

const REOPENED = `(
  select count(*) from public.task_events as again
  where again.task_id = task.id and again.type in ('task.retried', 'task.resumed')
    and again.payload ->> 'reason' in ('requested', 'continued')
)`;

/** Checked when everything should have ended. */
const AT_THE_END: Checks = {
  "the queue drains": [
    "select id || ' ' || status from public.tasks where finished_at is null",
    "select message::text from pgmq.q_agent_tasks",
    "select id || ' ' || status from public.webhook_messages where finished_at is null",
    "select id || ' of ' || task_id from public.human_reviews where answered_at is null",
    `select id::text from public.tasks
     where pending_children <> 0 or lease_expires_at is not null
       or worker_id is not null`,
  ],
  "a task ends once, with one event": [
    `select task.id || ' ' || task.status from public.tasks as task
     where (
       select count(*) from public.task_events as event
       where event.task_id = task.id
         and event.type in ('task.completed', 'task.failed', 'task.cancelled')
     ) <> 1 + ${REOPENED}`,
  ],
  "a task begins with its creation and closes with its end": [
    `select task.id::text from public.tasks as task
     where (
       select type from public.task_events where task_id = task.id order by id limit 1
     ) is distinct from 'task.created'`,
    `select task.id || ' ' || event.type from public.tasks as task
     cross join lateral (
       select type from public.task_events
       where task_id = task.id and type not in ('subtask.finished', 'model.interrupted')
       order by id desc limit 1
     ) as event
     where event.type <> 'task.' || task.status`,
  ],
  "a task starts once": [
    "select task_id from public.task_events where type = 'task.started' group by 1 having count(*) > 1",
  ],
  "events are in order": [
    `select task_id || ' ' || type from (
       select task_id, type, at, lag(at) over (partition by task_id order by id) as earlier_at
       from public.task_events
     ) as event
     where at < earlier_at`,
  ],
  "a step ends once": [
    `select task_id || ' ' || (payload ->> 'step_seq') from public.task_events
     where type in ('model.completed', 'tool.completed', 'tool.failed') and payload ? 'step_seq'
     group by task_id, payload ->> 'step_seq' having count(*) > 1`,
    `select step.task_id || ' ' || step.seq from public.task_steps as step
     join public.tasks as task on task.id = step.task_id
     where step.state = 'started' and task.status = 'completed'`,
  ],
  "a parent hears each child once": [
    `select child.id::text from public.tasks as child
     where child.parent_id is not null and (
       select count(*) from public.task_events as event
       where event.task_id = child.parent_id and event.type = 'subtask.finished'
         and event.payload ->> 'subtask_id' = child.id::text
     ) <> 1 + (
       select count(*) from public.task_events as again
       where again.task_id = child.id and again.type = 'task.retried'
         and again.payload ->> 'reason' = 'requested'
     )`,
    `select child.id || ' ' || child.status || ' ' || coalesce(step.state, 'no step')
     from public.tasks as child
     join public.tasks as parent on parent.id = child.parent_id
     left join public.task_steps as step
       on step.task_id = child.parent_id and step.seq = child.parent_step_seq
     where parent.status = 'completed' and child.parent_step_seq is not null
       and step.state is distinct from case child.status when 'completed' then 'done' else 'failed' end`,
  ],
  "sums equal their parts": [
    `select task.id || ' ' || task.input_tokens from public.tasks as task
     where (task.input_tokens, task.output_tokens) <> (
       select coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(output_tokens), 0)::bigint
       from public.usage_events as used
       where used.task_id = task.id and (task.status <> 'running' or used.id <= task.summed_usage_id)
     )`,
    `select total.master_task_id::text from private.job_totals as total
     where (total.input_tokens, total.output_tokens) <> (
       select coalesce(sum(used.input_tokens), 0)::bigint, coalesce(sum(used.output_tokens), 0)::bigint
       from public.tasks as task join public.usage_events as used on used.task_id = task.id
       where task.master_task_id = total.master_task_id
     )`,
  ],
  "a model call is booked once": [
    `select step.task_id || ' ' || step.seq from public.task_steps as step
     where step.kind = 'model' and step.state = 'done' and step.usage is not null and (
       select count(*) from public.usage_events as used
       where used.task_id = step.task_id and used.step_seq = step.seq and not used.is_estimate
     ) <> 1`,
    // A deleted account takes its tasks along, but not the calls.
    `select used.task_id || ' ' || used.step_seq from public.usage_events as used
     join public.tasks as task on task.id = used.task_id
     where not used.is_estimate and not exists (
       select from public.task_steps as step
       where step.task_id = used.task_id and step.seq = used.step_seq and step.state = 'done'
     )`,
  ],
  "no call of a cut turn is made": [
    `select call.task_id || ' ' || call.seq || ' ' || call.name from public.task_steps as turn
     join public.task_steps as call on call.task_id = turn.task_id
       and call.seq > turn.seq and call.seq <= turn.seq + jsonb_array_length(turn.output -> 'tool_calls')
     where turn.output ->> 'finish_reason' = 'length' and (
       call.state = 'started' or call.output ->> 'execution_id' is not null
       or exists (
         select from public.tasks as child where child.parent_id = call.task_id and child.parent_step_seq = call.seq)
     )`,
  ],
  "budgets are not exceeded": [
    `select task.id || ' ' || total.task_count from public.tasks as task
     join private.job_totals as total on total.master_task_id = task.id
     where total.task_count > (task.budget ->> 'max_tasks')::numeric`,
    // Calls that need no I/O are settled beyond the cap, such as complete_task.
    `select step.task_id || ' ' || step.seq from public.task_steps as step
     join public.tasks as task on task.id = step.task_id
     join public.tasks as master on master.id = task.master_task_id
     where step.seq > (master.budget ->> 'max_steps')::numeric
       and step.kind in ('model', 'tool') and step.output ->> 'execution_id' is not null`,
    `select task.id || ' ' || step.seq from public.task_steps as step
     join public.tasks as task on task.id = step.task_id
     join public.tasks as master on master.id = task.master_task_id
     where step.kind = 'model' and step.usage is not null and (
       select coalesce(sum(used.output_tokens), 0) from public.usage_events as used
       join public.tasks as other on other.id = used.task_id
       where other.master_task_id = master.id and used.created_at < step.started_at
     ) >= (master.budget ->> 'max_output_tokens')::numeric`,
  ],
  "no task fails by a fault of the engine": [
    `select id || ' ' || (error ->> 'code') || ' ' || (error ->> 'message') from public.tasks
     where error ->> 'code' in
       ('INTERNAL', 'STEP_CONFLICT', 'LEASE_LOST', 'DATABASE_UNAVAILABLE', 'TOOL_STATE_INVALID')`,
  ],
  "a webhook gets each event once": [
    `select webhook.id || ' ' || event.id || ' ' || event.type
     from public.webhooks as webhook
     join public.tasks as task on task.owner_key = webhook.owner_key
     join public.task_events as event on event.task_id = task.id and event.type = any (webhook.events)
     where webhook.is_active
       and (task.parent_id is null or webhook.includes_subtasks or event.type like 'review.%')
       and 1 <> (
         select count(*) from public.webhook_messages as message
         where message.webhook_id = webhook.id and (message.payload #>> '{data,seq}')::bigint = event.id
       )`,
    "select id || ' ' || error::text from public.webhook_messages where status = 'failed'",
  ],
  "a schedule runs once at each time": [
    `select metadata #>> '{schedule,id}' from public.tasks as run
     where metadata ? 'schedule' and parent_id is null
       and not exists (select from private.task_forks where fork_id = run.id)
     group by metadata #>> '{schedule,id}', metadata #>> '{schedule,scheduled_at}'
     having count(*) > 1`,
    `select schedule.id || ' ' || run_count from public.schedules as schedule
     where run_count <> (
       select count(*) from public.tasks as run
       where run.metadata #>> '{schedule,id}' = schedule.id::text and run.parent_id is null
         and not exists (select from private.task_forks where fork_id = run.id)
     )`,
  ],
  "maintenance never fails": [
    "select to_jsonb(failure)::text from private.maintenance_failures as failure",
  ],
};

/** What triggers see: tables alone do not show it. */
const SIGHTINGS = `
  create schema witness;
  create table witness.sightings (name text not null, detail text not null);

  -- The leases that the current transaction names, {task: [epochs]}.
  create function witness.has_stale_epoch(p_task_id uuid, p_epoch bigint) returns boolean
  language sql stable set search_path = '' as $$
    select not current_setting('witness.leases', true)::jsonb -> p_task_id::text @> to_jsonb(p_epoch)
  $$;

  create function witness.see_task() returns trigger
  language plpgsql security definer set search_path = '' as $$
  begin
    if old.finished_at is not null and new.status not in (old.status, 'pending') then
      insert into witness.sightings values ('a task ends once, with one event', new.id || ' ' || new.status);
    end if;
    if old.status = 'pending_subtask' and new.status = 'pending' and new.pending_children > 0 then
      insert into witness.sightings values ('a parent waits for its open children', new.id || ' is woken');
    end if;
    if new.epoch < old.epoch then
      insert into witness.sightings values ('an epoch never falls', new.id);
    end if;
    if new.worker_id <> old.worker_id and new.epoch = old.epoch then
      insert into witness.sightings values ('a lease has one worker', new.id);
    end if;
    if new.status = 'running' and old.status <> 'running' then
      if new.epoch <= old.epoch then
        insert into witness.sightings values ('a claim raises the epoch', new.id);
      end if;
      if new.deliveries <> old.deliveries + 1 then
        insert into witness.sightings values ('each claim counts', new.id || ' ' || new.deliveries);
      end if;
    end if;
    -- Without faults a worker hears of a cancellation at its next heartbeat.
    if new.status = 'cancelled' and old.status = 'running'
      and old.cancel_requested_at < clock_timestamp() - interval '25 seconds'
    then
      insert into witness.repairs values ('cancelled late: ' || new.id);
    end if;
    if current_setting('witness.leases', true) <> '' and witness.has_stale_epoch(new.id, old.epoch) then
      insert into witness.sightings values ('no write by a stale epoch', new.id);
    end if;
    return null;
  end $$;
  create trigger witness after update on public.tasks for each row execute function witness.see_task();

  create function witness.see_step() returns trigger
  language plpgsql security definer set search_path = '' as $$
  begin
    -- A retried subtask takes its result back, which opens the step again.
    if tg_op = 'UPDATE' and old.state <> 'started' and new.state <> 'started'
      and (old.state, old.output) is distinct from (new.state, new.output) then
      insert into witness.sightings values ('an ended step never changes', new.task_id || ' ' || new.seq);
    end if;
    if current_setting('witness.leases', true) <> '' and witness.has_stale_epoch(
      new.task_id, (select epoch from public.tasks where id = new.task_id)
    ) then
      insert into witness.sightings values ('no write by a stale epoch', new.task_id || ' ' || new.seq);
    end if;
    return null;
  end $$;
  create trigger witness after insert or update on public.task_steps for each row
    execute function witness.see_step();

  create function witness.see_message() returns trigger
  language plpgsql security definer set search_path = '' as $$
  begin
    if old.finished_at is not null and (new.finished_at is null or new.status <> old.status) then
      insert into witness.sightings values ('a message ends once', new.id || ' ' || new.status);
    end if;
    if new.status = 'running' and (old.epoch, old.worker_id) is distinct from (new.epoch, new.worker_id) then
      if new.epoch <= old.epoch then
        insert into witness.sightings values ('a claim raises the epoch', new.id);
      end if;
      if old.run_after > clock_timestamp() then
        insert into witness.sightings values ('a message waits between two attempts', new.id);
      end if;
      if old.lease_expires_at > clock_timestamp() then
        insert into witness.sightings values ('a lease has one worker', new.id);
      end if;
    end if;
    if current_setting('witness.leases', true) <> '' and witness.has_stale_epoch(new.id, old.epoch) then
      insert into witness.sightings values ('no write by a stale epoch', new.id);
    end if;
    return null;
  end $$;
  create trigger witness after update on public.webhook_messages for each row
    execute function witness.see_message();

  -- What the reconciler repairs. Faults explain it; without them something was forgotten before.
  create table witness.repairs (detail text not null);
  do $wrap$
  declare
    v_name text;
  begin
    foreach v_name in array array['return_expired_task', 'end_expired_task', 'wake_stranded_task'] loop
      execute format('alter function private.%I(uuid) rename to %I', v_name, v_name || '_unseen');
      execute format($body$
        create function private.%1$I(p_task_id uuid) returns boolean
        language plpgsql security definer set search_path = '' as $$
        declare
          v_is_done boolean := private.%2$I(p_task_id);
        begin
          if v_is_done then
            insert into witness.repairs values ('%1$s: ' || p_task_id);
          end if;
          return v_is_done;
        end $$
      $body$, v_name, v_name || '_unseen');
    end loop;
  end $wrap$;
`;

/** Sets up the checks in a database. As functions, they keep their plans. */
export const WITNESS = `${SIGHTINGS}
  create function witness.next_due_ms() returns float8
  language plpgsql set plan_cache_mode = force_generic_plan as $due$
  begin
    return extract(epoch from least(
      (select min(coalesce(run_after, created_at)) from public.tasks where status = 'pending'),
      (select min(lease_expires_at) from public.tasks where status = 'running')
    )) * 1000;
  end $due$;
  -- Messages of Realtime are the platform's, which deletes them after three days.
  -- By decision, a call keeps the id of its task, but not of its user.
  create function witness.traces_of(p_users text, p_tasks text) returns table (detail text)
  language plpgsql as $traces$
  declare
    v_table text;
  begin
    for v_table in
      select format('%I.%I', schemaname, tablename) from pg_tables
      where schemaname in ('auth', 'public', 'private', 'pgmq', 'net', 'vault', 'storage') order by 1
    loop
      return query execute format(
        'select %L || '': '' || left(t::text, 200) from %s as t where t::text ~ $1 limit 1', v_table, v_table
      ) using case when v_table = any ('{public.usage_events,public.mcp_executions}') then p_users
        else concat_ws('|', p_users, nullif(p_tasks, '')) end;
    end loop;
  end $traces$;
  ${functionOf("always", ALWAYS)}
  ${functionOf("at_the_end", AT_THE_END)}`;

function functionOf(name: string, checks: Checks): string {
  const queries = Object.entries(checks).flatMap(([invariant, texts]) =>
    texts.map((text) =>
      `select '${invariant}', found.detail::text from (${text}) as found (detail)`
    )
  );
  return `create function witness.${name}() returns table (name text, detail text)
    language plpgsql set plan_cache_mode = force_generic_plan as $check$
    begin
      return query ${queries.join("\n union all ")}
        union all select sighting.name, sighting.detail from witness.sightings as sighting;
    end $check$;`;
}

/** Invariants that other parts of the world check, where they can be seen. */
export const CHECKED_ELSEWHERE: readonly string[] = [
  "an epoch never falls",
  "a claim raises the epoch",
  "each claim counts",
  "a message waits between two attempts",
  "a lease has one worker",
  "an ended step never changes",
  "no write by a stale epoch",
  "no call after a lost lease",
  "no call fails unexpectedly",
  "an idempotency key makes one task",
  "a message ends once",
  "a delivered message was received",
  "no event is lost to a cursor",
  "nothing of a deleted user stays",
  "an answer was given",
  "an effect is repeated only with approval",
  "a result has a run",
  "the reconciler has nothing to repair without faults",
];

/** All names. */
export const INVARIANTS: readonly string[] = [
  ...new Set([...Object.keys(ALWAYS), ...Object.keys(AT_THE_END), ...CHECKED_ELSEWHERE]),
];
