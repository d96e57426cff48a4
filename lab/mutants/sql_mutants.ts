import type { SqlMutant } from "./mutant.ts";

const of = (sqlFunction: string) =>
(
  text: string,
  replacement: string,
  breaks: string,
  more: Pick<SqlMutant, "pgtap" | "tests" | "isEquivalent"> = {},
): SqlMutant => ({ sqlFunction, text, replacement, breaks, ...more });

const holdTask = of("hold_task");
const startTasks = of("start_tasks");
const nextTasks = of("next_tasks");
const claimTasks = of("claim_tasks");
const renewTasks = of("renew_tasks");
const heartbeat = of("heartbeat");
const endSteps = of("end_steps");
const startSteps = of("start_steps");
const recordSteps = of("record_steps");
const recordCheckpoints = of("record_checkpoints");
const recordProgress = of("record_progress");
const reportToParent = of("report_to_parent");
const endTask = of("end_task");
const endWaiting = of("end_waiting_as_cancelled");
const cancelTasks = of("cancel_tasks");
const cancelJob = of("cancel_job");
const holdOrCancel = of("hold_or_cancel");
const finishTask = of("finish_task");
const finishWithoutWaiters = of("finish_without_waiters");
const finishTasks = of("finish_tasks");
const parkTask = of("park_task");
const spawnSubtasks = of("spawn_subtasks");
const subtaskCaps = of("assert_subtask_caps");
const requestReview = of("request_review");
const respond = of("respond_to_review");
const assertReopenable = of("assert_reopenable");
const failTask = of("fail_task");
const yieldTask = of("yield_task");
const deleteUntried = of("delete_untried");
const returnExpired = of("return_expired_task");
const endExpired = of("end_expired_task");
const stranded = of("wake_stranded_task");
const followTask = of("follow_waiting_task");
const withdraw = of("withdraw_result");
const reopen = of("reopen_task");
const continueTask = of("continue_task");
const eventPage = of("event_page");
const settleCursor = of("settle_event_cursor");
const claimMessages = of("claim_webhook_messages");
const recordAttempt = of("record_webhook_attempt");
const takeDueRun = of("take_due_run");

const race = (name: string) => `tests/postgres/${name}_test.ts`;
const CLAIM_RACE = race("claim_race");
const LAST_CHILD_RACE = race("last_child_race");
const CANCEL_RACE = race("cancel_race");
const REVIEW_RACE = race("review_race");
const CONTINUE_RACE = race("continue_race");
const REPAIR_RACE = race("repair_race");
const RETRY_RACE = race("retry_race");
const CHECKPOINT_RACE = race("checkpoint_race");
const LEASE_RACE = race("lease_race");
const EVENTS_RACE = race("read_events_race");
const FAIRNESS = race("fairness");

/** Faults of the SQL: dropped fences, locks, conditions and counts. */
export const SQL_MUTANTS: readonly SqlMutant[] = [
  holdTask("v_work.epoch is distinct from p_epoch or ", "", "a stale epoch may write"),
  holdTask(
    " or v_work.status is distinct from 'running'",
    "",
    "a task that does not run may be written to",
  ),
  holdTask(" for no key update", "", "a writer does not lock its task", {
    tests: [LEASE_RACE, CANCEL_RACE],
  }),
  holdTask(
    "update public.tasks set lease_expires_at = v_work.lease_expires_at where id = p_task_id;",
    "null;",
    "a checkpoint does not renew its lease",
  ),
  startTasks(
    "greatest(work.epoch + 1, (",
    "greatest(work.epoch, 1 + 0 * (",
    "a claim keeps the epoch",
  ),
  startTasks(
    "deliveries = work.deliveries + 1",
    "deliveries = work.deliveries",
    "claims are not counted",
    { pgtap: ["claim_tasks", "reconcile"] },
  ),
  nextTasks("for no key update skip locked", "", "a claim does not lock what it takes", {
    tests: [CLAIM_RACE],
  }),
  nextTasks(" skip locked", "", "claims wait for each other", { tests: [CLAIM_RACE] }),
  nextTasks(
    "(task.status = 'pending') is true and ",
    "",
    "a claim does not look again at what it has locked",
    { tests: [CLAIM_RACE] },
  ),
  nextTasks("task.cancel_requested_at is null and ", "", "a cancelled task is claimed", {
    pgtap: ["claim_tasks"],
  }),
  nextTasks("task.deliveries < task.max_deliveries", "true", "a crash loop never ends", {
    pgtap: ["claim_tasks"],
  }),
  claimTasks(
    "case when task.id = any (v_new_ids) then 'task.started' else 'task.resumed' end",
    "'task.started'",
    "a task starts more than once",
  ),
  claimTasks(
    "perform pg_advisory_xact_lock(hashtextextended('supaswarm:concurrency_limits', 0));",
    "null;",
    "claims count the tasks of users at the same time",
    { tests: [FAIRNESS] },
  ),
  claimTasks(
    "perform private.open_wake_gate('supaswarm_tasks');",
    "null;",
    "a task that is created just after a wake waits for a poll",
    { pgtap: ["wake"] },
  ),
  renewTasks(
    "on lease.id = work.id and lease.epoch = work.epoch",
    "on lease.id = work.id",
    "a stale heartbeat renews another worker's lease",
    { pgtap: ["heartbeat"] },
  ),
  renewTasks(
    "work.epoch = lease.epoch and ",
    "",
    "a stale heartbeat gets the answer that it holds the lease",
    { pgtap: ["heartbeat"] },
  ),
  renewTasks(
    "set lease_expires_at = clock_timestamp() + make_interval(secs => p_lease_seconds)",
    "set lease_expires_at = work.lease_expires_at",
    "a heartbeat renews nothing",
    { pgtap: ["heartbeat"] },
  ),
  heartbeat(
    "when not lease.is_held then 'lost'",
    "when false then 'lost'",
    "a lost lease is not reported",
  ),
  heartbeat(
    "when task.cancel_requested_at is not null then 'cancelled'",
    "when false then 'cancelled'",
    "a heartbeat does not report a cancellation",
  ),
  endSteps(" and state = 'started'", "", "a second result replaces the first", {
    pgtap: ["record_steps"],
  }),
  endSteps("continue when not found;", "", "a repeated result is booked again", {
    pgtap: ["record_steps"],
  }),
  startSteps(
    "continue when exists (select from public.task_steps where task_id = p_task.id and seq = v_step.seq);",
    "delete from public.task_steps where task_id = p_task.id and seq = v_step.seq;",
    "an ended step starts again",
    { pgtap: ["begin_steps", "record_steps"] },
  ),
  startSteps("if v_step.seq > v_max_steps then", "if false then", "max_steps is ignored", {
    pgtap: ["begin_steps", "record_steps"],
  }),
  startSteps(
    "perform private.assert_budget_allows_model_call(p_task);",
    "null;",
    "a model call is made without budget",
    { pgtap: ["begin_steps", "record_steps"] },
  ),
  of("write_checkpoint")(
    "if p_task.cancel_requested_at is null then",
    "if true then",
    "the next step of a cancelled task begins",
    { pgtap: ["record_steps"] },
  ),
  recordCheckpoints(
    " skip locked",
    "",
    "a held task delays the checkpoints of others",
    { tests: [CHECKPOINT_RACE] },
  ),
  recordCheckpoints(
    "select distinct on (task.master_task_id) checkpoint.*",
    "select checkpoint.*",
    "a transaction holds the totals of a job and waits for another of its tasks",
    { tests: [CHECKPOINT_RACE] },
  ),
  recordSteps(
    "return v_task.cancel_requested_at is not null;",
    "return false;",
    "a checkpoint does not report a cancellation",
  ),
  recordProgress(
    "attempts = case when p_goes_on then 0 else attempts end",
    "attempts = attempts",
    "a step begins without all of its attempts",
    { pgtap: ["record_steps"] },
  ),
  recordProgress(
    "set deliveries = 1,",
    "set deliveries = deliveries,",
    "progress counts as a crash loop",
    {
      pgtap: ["record_steps", "yield_task"],
    },
  ),
  of("lock_job")(
    "perform pg_advisory_xact_lock(hashtextextended('supaswarm:' || p_master_task_id, 0));",
    "null;",
    "nothing serializes what changes a job",
    { tests: [LAST_CHILD_RACE, CANCEL_RACE] },
  ),
  reportToParent("for no key update", "", "a parent is not locked before its count is read", {
    isEquivalent: "the caller holds the job's lock, which everything that ends a child takes first",
  }),
  reportToParent(
    "seq = p_child.parent_step_seq and state = 'started'",
    "seq = p_child.parent_step_seq",
    "a child's result replaces a stored one",
  ),
  reportToParent("and pending_children = 1 ", "", "the first child wakes its parent"),
  reportToParent(
    " and cancel_requested_at is null as is_due",
    " as is_due",
    "the last child of a cancelled parent wakes it",
    {
      isEquivalent:
        "cancel_tasks() ends a task that waits in the call that marks it, so no marked " +
        "parent waits when a child reports",
    },
  ),
  reportToParent(
    "set pending_children = parent.pending_children - 1",
    "set pending_children = greatest(parent.pending_children - 2, 0)",
    "a child counts twice",
  ),
  endTask(" and finished_at is null", "", "an ended task ends again", {
    tests: [CANCEL_RACE, LAST_CHILD_RACE],
  }),
  endTask(
    "perform private.cancel_descendants(p_task_id);",
    "null;",
    "descendants outlive their task",
  ),
  endTask(
    "where task_id = p_task_id and answered_at is null;",
    "where false;",
    "an ended task still asks a person",
  ),
  endTask(
    "if v_task.parent_id is not null then",
    "if false then",
    "a parent does not hear of its child",
  ),
  endWaiting(
    "set pending_children = parent.pending_children - ended.child_count",
    "set pending_children = parent.pending_children",
    "cancelled children still count",
    { pgtap: ["cancel_task"] },
  ),
  endWaiting(
    "where task_id = any (p_task_ids) and answered_at is null;",
    "where false;",
    "a cancelled task still asks a person",
    { pgtap: ["cancel_task"] },
  ),
  endWaiting(
    "and step.seq = child.parent_step_seq and step.state = 'started'",
    "and step.seq = child.parent_step_seq and false",
    "a cancelled child gives no result",
    { pgtap: ["cancel_task"] },
  ),
  cancelTasks(" filter (where status <> 'running')", "", "running tasks end under their workers", {
    pgtap: ["cancel_task"],
  }),
  cancelJob(
    "perform private.lock_job(p_master.id);",
    "null;",
    "a cancellation does not lock its job",
    { tests: [CANCEL_RACE] },
  ),
  cancelJob("and finished_at is null) then", ") then", "an ended job is cancelled", {
    pgtap: ["cancel_task"],
  }),
  holdOrCancel(
    "perform private.lock_job_of(p_task_id);",
    "null;",
    "the end of a hold does not lock the job",
    { tests: [LAST_CHILD_RACE, CANCEL_RACE] },
  ),
  holdOrCancel(
    "if v_task.cancel_requested_at is not null then",
    "if false then",
    "a cancelled task completes",
    { pgtap: ["finish_task", "cancel_task"] },
  ),
  finishTask(
    "if v_task.pending_children > 0 then",
    "if false then",
    "a task ends before the tasks that it created through a tool",
    { pgtap: ["finish_task", "create_child_task"] },
  ),
  finishWithoutWaiters("finish.held_epoch = task.epoch", "true", "a stale epoch finishes", {
    pgtap: ["finish_tasks"],
  }),
  finishWithoutWaiters(
    "and task.cancel_requested_at is null",
    "",
    "a cancelled task completes when others do",
    { pgtap: ["finish_tasks"] },
  ),
  finishWithoutWaiters(
    "and task.pending_children = 0",
    "",
    "a task with open subtasks completes when others do",
    {
      pgtap: ["finish_tasks"],
    },
  ),
  finishWithoutWaiters(
    "and task.parent_id is null",
    "",
    "a subtask ends without a word to its parent",
    {
      pgtap: ["finish_tasks"],
    },
  ),
  finishWithoutWaiters(
    "and private.try_lock_job(task.master_task_id)",
    "",
    "tasks of a busy job finish together with others",
    { tests: [CHECKPOINT_RACE], pgtap: ["finish_tasks"] },
  ),
  of("sum_task_usage")("and used.id > new.summed_usage_id", "", "calls are summed again", {
    pgtap: ["sum_task_usage"],
  }),
  of("record_usage")(
    "where id = v_task.id and status <> 'running'",
    "where id = v_task.id",
    "calls before one of a tool are not summed",
    { pgtap: ["sum_task_usage"] },
  ),
  finishWithoutWaiters(
    "total.cost_micro_usd + last.cost_micro_usd, total.cost_micro_usd, last.cost_micro_usd",
    "total.cost_micro_usd + last.cost_micro_usd",
    "a first cost does not count toward the job",
    { pgtap: ["finish_tasks"] },
  ),
  finishWithoutWaiters(
    "perform private.emit_events(v_events);",
    "null;",
    "the trace lacks the last answer",
    { pgtap: ["finish_tasks"] },
  ),
  finishWithoutWaiters(
    "and task.worker_id is not null\n      and task.lease_expires_at is not null",
    "",
    "a task that does not run finishes",
    { pgtap: ["finish_tasks"] },
  ),
  finishTask(
    "if jsonb_array_length(p_steps) > 0 then",
    "if false then",
    "a task that ends alone loses its last results",
    { pgtap: ["finish_task"] },
  ),
  finishTasks(
    "exception when sqlstate 'PT409' then",
    "exception when sqlstate 'PT999' then",
    "a lost lease stops the others",
  ),
  parkTask(
    "if v_task.pending_children = 0 then",
    "if false then",
    "a task parks although its last child has ended",
  ),
  of("park")("deliveries = 0", "deliveries = deliveries", "a parked task keeps its deliveries", {
    pgtap: ["park_task", "request_review"],
  }),
  spawnSubtasks(
    "perform private.lock_job_of(p_task_id);",
    "null;",
    "subtasks are created without the job's lock",
    { tests: [CANCEL_RACE] },
  ),
  spawnSubtasks(
    "v_child_id := v_subtask.child_id;",
    "v_child_id := null;",
    "a repeated call forgets its subtasks",
  ),
  spawnSubtasks(
    "if v_task.cancel_requested_at is not null then",
    "if false then",
    "a cancelled task creates subtasks",
  ),
  spawnSubtasks(
    "set pending_children = pending_children + v_created",
    "set pending_children = pending_children + 1",
    "only one new subtask counts",
  ),
  spawnSubtasks(
    "set task_count = task_count + v_created",
    "set task_count = task_count",
    "a job does not count its subtasks",
  ),
  subtaskCaps(
    "+ p_new_children > v_max_tasks",
    "> v_max_tasks",
    "max_tasks is exceeded by one turn",
    {
      pgtap: ["spawn_subtasks"],
      isEquivalent: "the cap that a job shares with its forks holds for the job alone as well",
    },
  ),
  subtaskCaps("p_task.depth + 1 > v_max_depth", "false", "max_depth is ignored", {
    pgtap: ["spawn_subtasks"],
  }),
  requestReview("and answered_at is not null", "and false", "an answered question is asked again"),
  requestReview(
    "perform private.delete_untried(v_task, p_untried);",
    "null;",
    "calls that were never sent stay started beside a question",
  ),
  respond(
    "where id = v_review.id and answered_at is null",
    "where id = v_review.id",
    "a question is answered twice",
    { tests: [REVIEW_RACE], pgtap: ["respond_to_review"] },
  ),
  respond(
    "perform private.lock_job(v_task.master_task_id);",
    "null;",
    "an answer does not lock the job",
    { tests: [REVIEW_RACE, CANCEL_RACE] },
  ),
  assertReopenable(
    " or p_task.epoch is distinct from p_review.answered_epoch",
    "",
    "an answer that the agent has read is taken back",
    {
      pgtap: ["reopen_review"],
    },
  ),
  respond(
    "where id = p_task_id and status = 'needs_human_review';",
    "where false;",
    "an answer wakes nobody",
  ),
  failTask(
    "set attempts = attempts + 1, deliveries = 0,",
    "set deliveries = 0,",
    "attempts are not counted",
  ),
  of("has_spent_attempts")(
    "if p_task.attempts + 1 < coalesce(p_task.max_attempts, 5) then",
    "if true then",
    "a task is tried without end",
    { pgtap: ["fail_task"] },
  ),
  failTask(
    "and v_task.rate_limit_waits < v_max_rate_limit_waits",
    "",
    "a rate limit is waited for without end",
  ),
  failTask(
    "if p_retry = 'never' then",
    "if false then",
    "an error that no retry can fix is retried",
  ),
  yieldTask(
    "set deliveries = greatest(deliveries - 1, 0), yields",
    "set yields",
    "a return counts as a crash",
  ),
  yieldTask(
    "perform private.delete_untried(v_task, p_untried);",
    "null;",
    "calls that were never sent stay started",
  ),
  deleteUntried("and state = 'started'", "", "an ended call is deleted", { pgtap: ["yield_task"] }),
  deleteUntried("and epoch = (p_task).epoch", "", "a call of another worker is deleted", {
    pgtap: ["yield_task", "begin_again"],
  }),
  yieldTask(
    "runs_exclusively = runs_exclusively or v_yields >= 3",
    "runs_exclusively = runs_exclusively",
    "a task that never fits beside others never runs alone",
  ),
  yieldTask(
    "v_yields := case when v_has_progressed then 0 else v_task.yields + 1 end;",
    "v_yields := v_task.yields + 1;",
    "a task that makes progress waits",
  ),
  returnExpired(
    "and lease_expires_at <= clock_timestamp()",
    "",
    "a task is taken from a living worker",
    {
      pgtap: ["reconcile", "heartbeat"],
    },
  ),
  returnExpired("and status = 'running'", "", "a task that does not run is returned", {
    isEquivalent: "no other task has a lease that could expire",
  }),
  returnExpired("and cancel_requested_at is null", "", "a cancelled task is returned to the line", {
    pgtap: ["reconcile", "heartbeat"],
  }),
  returnExpired("and deliveries < max_deliveries", "", "a crash loop is returned to the line", {
    pgtap: ["reconcile", "heartbeat"],
  }),
  of("return_expired_tasks")(
    "limit 50",
    "limit 0",
    "the tasks of dead workers are never returned",
    {
      pgtap: ["reconcile", "heartbeat"],
    },
  ),
  endExpired("and lease_expires_at <= clock_timestamp()", "", "a living worker's task is ended", {
    pgtap: ["reconcile"],
  }),
  endExpired(
    "and (cancel_requested_at is not null or deliveries >= max_deliveries)",
    "",
    "a task that may be claimed again is ended",
    { pgtap: ["reconcile"] },
  ),
  endExpired(
    "if v_task.cancel_requested_at is not null then",
    "if false then",
    "a cancelled task of a dead worker fails",
    {
      pgtap: ["reconcile"],
    },
  ),
  of("end_expired_tasks")("limit 200", "limit 0", "a cancelled task of a dead worker never ends", {
    pgtap: ["reconcile"],
  }),
  of("end_overdue_jobs")("limit 200", "limit 0", "max_wall_seconds is ignored", {
    pgtap: ["reconcile"],
  }),
  of("end_overdue_job")("and status <> 'running'", "", "a running job ends under its worker", {
    pgtap: ["reconcile"],
  }),
  stranded(
    "where task.id in (select task_id from private.stranded_tasks(p_task_id))\n    and task.status",
    "where task.id = p_task_id and task.status",
    "a waiting parent is woken by the reconciler",
    { tests: [REPAIR_RACE], pgtap: ["reconcile"] },
  ),
  of("wake_stranded_tasks")("limit 200", "limit 0", "a stranded parent is never woken", {
    pgtap: ["reconcile"],
  }),
  followTask(
    "if tg_op <> 'INSERT' then",
    "if tg_op = 'DELETE' then",
    "a task that waits no more keeps its message",
  ),
  followTask("new.status = 'pending'", "false", "a waiting task has no message"),
  of("repair_queue")(
    "limit 1000\n    -- Its",
    "limit 0\n    -- Its",
    "a lost message is never sent again",
    {
      pgtap: ["repair_queue"],
    },
  ),
  of("record_cut_call")(
    "set runs_exclusively = true",
    "set runs_exclusively = runs_exclusively",
    "a call that was cut off twice is cut off again",
    {
      pgtap: ["claim_tasks", "yield_task"],
    },
  ),
  of("book_cut_call")(
    "perform private.record_usage(v_usage ||",
    "perform jsonb_typeof(v_usage ||",
    "a call that was cut off costs nothing",
    { pgtap: ["yield_task", "reconcile"] },
  ),
  of("begin_again")(
    "set epoch = p_epoch,",
    "set epoch = step.epoch,",
    "an approval can be used twice",
  ),
  of("begin_again")("and step.state = 'started'", "", "an ended call runs again", {
    isEquivalent: "only the epoch of an ended step would change, and the worker never lists one",
  }),
  withdraw(
    "set pending_children = pending_children + 1",
    "set pending_children = pending_children",
    "a retried child is not waited for",
    {
      pgtap: ["retry_task"],
    },
  ),
  withdraw(
    "v_parent.status not in ('pending', 'pending_subtask') or ",
    "",
    "a result is taken back while its parent reads it",
    { tests: [RETRY_RACE], pgtap: ["retry_task"] },
  ),
  withdraw(
    "set state = 'started', output = null, ended_at = null",
    "set state = state",
    "a retried child's old result stays",
    {
      pgtap: ["retry_task"],
    },
  ),
  reopen("perform private.lock_job_of(p_task_id);", "null;", "a retry does not lock its job", {
    isEquivalent: "retry_task() has locked the job before",
  }),
  reopen("v_task.status not in ('failed', 'cancelled')", "false", "a running task is retried", {
    pgtap: ["retry_task", "redrive"],
  }),
  reopen(
    "set answered_at = null, comments = null",
    "set comments = null",
    "a retried task waits for a closed question",
    {
      pgtap: ["retry_task"],
    },
  ),
  of("requeue_ended")("attempts = 0,", "attempts = attempts,", "a retried task has no attempts", {
    pgtap: ["retry_task", "redrive"],
  }),
  of("requeue_ended")("cancel_requested_at = null,", "", "a retried task is still cancelled", {
    pgtap: ["retry_task"],
  }),
  continueTask(
    "perform private.close_open_steps(p_task_id);",
    "null;",
    "a call of an earlier run starts again",
  ),
  continueTask(
    "perform private.lock_job(v_task.master_task_id);",
    "null;",
    "two messages continue a task",
    { tests: [CONTINUE_RACE] },
  ),
  of("assert_continuable")(
    "if p_task.finished_at is null then",
    "if false then",
    "a running task is continued",
    {
      pgtap: ["continue_task"],
    },
  ),
  of("create_task")(
    "and task.idempotency_key = p_idempotency_key",
    "and false",
    "a repeated key finds no task",
  ),
  of("try_lock_job")(
    "return pg_try_advisory_xact_lock",
    "perform pg_try_advisory_xact_lock",
    "a job is never locked",
    { tests: [REPAIR_RACE], pgtap: ["reconcile"] },
  ),
  eventPage(
    "part.id * 64 + private.event_count(part.type, part.payload) - 1 > read.until",
    "true",
    "rows that were read fill the page",
    { pgtap: ["read_events"], tests: [EVENTS_RACE] },
  ),
  eventPage("candidate.id > stored.until", "true", "an event is returned twice", {
    pgtap: ["read_events", "events_of"],
    tests: [EVENTS_RACE],
  }),
  of("add_step_event")(">= 64", ">= 65", "an event gets an id of the next row", {
    pgtap: ["events_of"],
  }),
  of("parse_event_cursor")(
    "if p_cursor not like '.%' then",
    "if false then",
    "ids of rows are taken for ids of events",
    {
      pgtap: ["events_of"],
    },
  ),
  settleCursor(
    "if v_cursor.transaction < pg_snapshot_xmin(p_snapshot) then",
    "if true then",
    "a cursor passes events that are not committed",
    { tests: [EVENTS_RACE], pgtap: ["read_events"] },
  ),
  settleCursor(
    "least(v_cursor.settling, p_read_until)",
    "v_cursor.settling",
    "a cursor passes events that were not read",
    { tests: [EVENTS_RACE], pgtap: ["read_events", "settle_event_cursor"] },
  ),
  of("hold_webhook_message")(
    "v_work.epoch is distinct from p_epoch or ",
    "",
    "a stale epoch records an attempt",
    {
      pgtap: ["record_webhook_attempt"],
    },
  ),
  claimMessages(
    "deliveries >= c_max_deliveries",
    "false",
    "a message that kills its worker is sent without end",
  ),
  claimMessages(
    "when 'running' then message.lease_expires_at <= v_now",
    "when 'running' then true",
    "a message is taken from a living worker",
  ),
  claimMessages(
    "else message.run_after is null or message.run_after <= v_now",
    "else true",
    "a message does not wait between attempts",
  ),
  recordAttempt(
    "if p_error is null then\n    update public.webhook_messages",
    "if false then\n    update public.webhook_messages",
    "a delivered message is sent again",
  ),
  recordAttempt(
    "perform private.release_webhook_message(v_message.id, clock_timestamp() + v_pause);",
    "null;",
    "a failed attempt keeps its lease",
  ),
  of("queue_webhook_messages")(
    "and event.type = any (webhook.events)",
    "",
    "a webhook gets events that it did not ask for",
    {
      pgtap: ["webhooks"],
    },
  ),
  of("queue_webhook_messages")(
    "or webhook.includes_subtasks ",
    "",
    "a webhook misses the events of subtasks",
    {
      pgtap: ["webhooks"],
    },
  ),
  of("has_unfinished_run")(
    "return exists",
    "return false and exists",
    "runs of a schedule overlap",
    {
      pgtap: ["run_due_schedules"],
    },
  ),
  takeDueRun("if not v_is_behind then", "if true then", "a waiting run runs at once", {
    pgtap: ["run_due_schedules"],
  }),
  takeDueRun(
    "set next_run_at = v_next,",
    "set next_run_at = next_run_at,",
    "a schedule runs again and again",
    {
      pgtap: ["run_due_schedules"],
    },
  ),
  of("run_due_schedules")(
    "set waiting_times = waiting_times[2:]",
    "set waiting_times = waiting_times",
    "a run that waits runs without end",
  ),
];
