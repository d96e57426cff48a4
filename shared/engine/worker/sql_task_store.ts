import { z } from "../../vendor/zod.js";
import { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import type { Sql } from "../../platform/db/sql_client.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { jsonObject, jsonValue } from "../../platform/values/json_schema.ts";
import { toStorableJson, toStorableText } from "../../platform/values/storable_json.ts";
import type { Clock } from "../../platform/isolate/clock.ts";
import { gather } from "./gather.ts";
import { createQueryRunner } from "../../platform/isolate/query_runner.ts";
import type { StepIntent } from "../agent/planned_call.ts";
import type { Checkpoint, ClaimedTask, StepRecord, TaskStore } from "./task_store.ts";

/** Lease and retry options of a store. */
export interface SqlTaskStoreOptions {
  /** Seconds that each write to a task renews its lease by. */
  readonly leaseSeconds: number;
  readonly clock: Clock;
}

const claimedRow = z.object({
  task_id: z.string(),
  epoch: z.string(),
  context: z.custom<ClaimedContext>(isClaimedContext),
  watched_seconds: z.number(),
});
const leaseRow = z.object({
  task_id: z.string(),
  epoch: z.string(),
  state: z.enum(["held", "lost", "cancelled", "paused"]),
  watched_seconds: z.number(),
});
const stepRow = z.object({
  seq: z.int(),
  state: z.enum(CLOSED_SETS.task_steps.state),
  output: jsonValue.nullable(),
});
const resultRow = z.object({ name: z.string(), output: jsonValue });
const recordRow = z.object({ is_cancelled: z.boolean(), watched_seconds: z.number() });
const recordedRow = recordRow.extend({ place: z.int() });
const deltaRow = z.object({ is_sent: z.boolean() });
const schemaRow = z.object({ slug: z.string(), input_schema: jsonObject });
const spawnRow = z.object({ seq: z.int(), error: jsonValue.nullable() });
const parkRow = z.object({ outcome: z.enum(["parked", "continue", "cancelled"]) });
const finishedRow = z.object({ task_id: z.string(), epoch: z.string(), status: z.string() });
const finishRow = z.object({ status: z.enum(["completed", "cancelled", "parked"]) });
const statusRow = z.object({ status: z.string() });
const stallRow = z.object({ stalled_ms: z.number() });
const tokenRow = z.object({ is_token: z.boolean() });
const anyRow = z.unknown();
const skillRow = z.object({
  skill: z.object({
    skill_id: z.string(),
    name: z.string(),
    instructions: z.string().nullable(),
    resources: z.record(z.string(), z.string()).nullable(),
    metadata: z.object({ scripts: z.array(z.object({ path: z.string() })) }).nullable().catch(null),
  }).nullable(),
});

/** What a claim reads of a context. The code that runs the task validates all of it. */
interface ClaimedContext {
  readonly task: { readonly runs_exclusively: boolean };
}

/** Not a schema of objects: zod would copy each context, at half the cost of parsing its JSON. */
function isClaimedContext(value: unknown): value is ClaimedContext {
  const { task } = (value ?? {}) as Partial<ClaimedContext>;
  return typeof task?.runs_exclusively === "boolean";
}

/** A last answer and an output of 64 KiB each make a message of 12 MiB. */
const MAX_FINISHED_TOGETHER = 100;

/** Fewer than ends: the first of them waits for the last, and a transaction holds each of its tasks. */
const MAX_RECORDED_TOGETHER = 20;

/** A task's checkpoint in the form for `private.record_checkpoints()`. */
interface TaskCheckpoint {
  readonly id: string;
  readonly held_epoch: string;
  readonly steps: readonly StepRecord[];
  readonly next: readonly StepIntent[];
}

/** A task's end in the form for `private.finish_tasks()`. */
interface Finish {
  readonly id: string;
  readonly held_epoch: string;
  readonly output: JsonValue;
  readonly reference: JsonObject | null;
  readonly steps: readonly StepRecord[];
}

/** The task store over the functions of schema `private`, each one call and one transaction. */
export function createSqlTaskStore(sql: Sql, options: SqlTaskStoreOptions): TaskStore {
  const { leaseSeconds } = options;
  const { once, withRetries } = createQueryRunner(options);
  const recordTogether = gather(recordAll, MAX_RECORDED_TOGETHER);
  const finishTogether = gather(finishAll, MAX_FINISHED_TOGETHER);

  return {
    async claim(workerId, limit, isIdle = true) {
      const rows = await once("claim tasks", claimedRow, () =>
        sql`
        select claim.task_id, claim.epoch, claim.context,
          case when exists (select from private.watched_jobs)
            then private.watched_seconds(claim.task_id) else 0 end::float8 as watched_seconds
        from private.claim_tasks(
          p_worker_id => ${workerId},
          p_limit => ${limit}::int,
          p_lease_seconds => ${leaseSeconds}::int,
          p_is_idle => ${isIdle}::boolean
        ) as claim`);
      return rows.map(toClaimedTask);
    },

    async heartbeat(workerId, leases) {
      const held = leases.map(({ taskId, epoch }) => ({ id: taskId, epoch }));
      const rows = await once("renew leases", leaseRow, () =>
        sql`
        select task_id, epoch, state, private.watched_seconds(task_id)::float8 as watched_seconds
        from private.heartbeat(
          p_worker_id => ${workerId},
          p_leases => ${sql.json(held)},
          p_lease_seconds => ${leaseSeconds}::int
        )`);
      return rows.map(({ task_id, epoch, state, watched_seconds }) => ({
        taskId: task_id,
        epoch,
        state,
        watchedSeconds: watched_seconds,
      }));
    },

    begin({ taskId, epoch }, intents) {
      return withRetries("begin steps", stepRow, () =>
        sql`
        select seq, state, output
        from private.begin_steps(
          p_task_id => ${taskId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_lease_seconds => ${leaseSeconds}::int,
          p_steps => ${json(intents)}
        )`);
    },

    async beginAgain({ taskId, epoch }, seqs) {
      await withRetries("restart steps", anyRow, () =>
        sql`
        select private.begin_again(
          p_task_id => ${taskId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_lease_seconds => ${leaseSeconds}::int,
          p_seqs => ${json(seqs)}
        )`);
    },

    async record({ taskId, epoch }, steps, next) {
      const checkpoint = { id: taskId, held_epoch: epoch, steps, next };
      return await recordTogether(checkpoint) ?? await recordAlone(checkpoint);
    },

    async inputSchemas(slugs) {
      const rows = await withRetries("read the input schemas", schemaRow, () =>
        sql`
        select slug, input_schema from private.input_schemas(p_slugs => ${json(slugs)})`);
      return new Map(rows.map(({ slug, input_schema: schema }) => [slug, schema]));
    },

    spawn({ taskId, epoch }, subtasks) {
      return withRetries("create subtasks", spawnRow, () =>
        sql`
        select seq, error
        from private.spawn_subtasks(
          p_task_id => ${taskId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_lease_seconds => ${leaseSeconds}::int,
          p_subtasks => ${json(subtasks)}
        )`);
    },

    async requestReview(
      { taskId, epoch },
      { seq, kind, question, options, context, untriedSeqs = [] },
    ) {
      const rows = await withRetries("ask for a review", parkRow, () =>
        sql`
        select private.request_review(
          p_task_id => ${taskId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_seq => ${seq}::int,
          p_question => ${toStorableText(question)},
          p_options => ${nullable(options)}::jsonb,
          p_context => ${nullable(context)}::jsonb,
          p_kind => ${kind},
          p_untried => ${json(untriedSeqs)}
        ) as outcome`);
      return first(rows).outcome;
    },

    async park({ taskId, epoch }) {
      const rows = await withRetries("park the task", parkRow, () =>
        sql`
        select private.park_task(${taskId}::uuid, ${epoch}::bigint) as outcome`);
      return first(rows).outcome;
    },

    async finish({ taskId, epoch }, output, reference, lastResults = []) {
      const together = await finishTogether({
        id: taskId,
        held_epoch: epoch,
        output: toStorableJson(output),
        reference,
        steps: lastResults,
      }).catch(() => "failed");
      if (together === "completed" || together === "cancelled" || together === "parked") {
        return together;
      }
      // Its job is busy, its lease is lost, or the call failed: a single call waits, retries and
      // reports.
      const rows = await withRetries("finish the task", finishRow, () =>
        sql`
        select private.finish_task(
          p_task_id => ${taskId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_output => ${json(output)}::jsonb,
          p_output_reference => ${nullable(reference)}::jsonb,
          p_steps => ${json(lastResults)}
        ) as status`);
      return first(rows).status;
    },

    async fail({ taskId, epoch }, error, { retry, retryAfterSeconds }) {
      const rows = await withRetries("fail the task", statusRow, () =>
        sql`
        select status
        from private.fail_task(
          p_task_id => ${taskId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_error => ${json(error)},
          p_retry => ${retry},
          p_retry_after_seconds => ${retryAfterSeconds}::numeric
        )`);
      return first(rows).status;
    },

    async yield({ taskId, epoch }, { untriedSeqs = [], cutCall = null, pause = null } = {}) {
      await withRetries("return the task", anyRow, () =>
        sql`
        select private.yield_task(
          p_task_id => ${taskId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_untried => ${json(untriedSeqs)},
          p_cut_call => ${nullable(cutCall)},
          p_pause => ${nullable(pause)}
        )`);
    },

    async loseCall({ taskId, epoch }, cutCall) {
      await withRetries("book the lost model call", anyRow, () =>
        sql`
        select private.lose_call(
          p_task_id => ${taskId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_lease_seconds => ${leaseSeconds}::int,
          p_cut_call => ${json(cutCall)}
        )`);
    },

    async broadcastDelta({ taskId, epoch }, seq, { offset, text }) {
      const rows = await once("broadcast text", deltaRow, () =>
        sql`
        select private.broadcast_delta(
          p_task_id => ${taskId}::uuid,
          p_epoch => ${epoch}::bigint,
          p_seq => ${seq}::int,
          p_offset => ${offset}::int,
          p_text => ${toStorableText(text)}
        ) as is_sent`);
      return first(rows).is_sent;
    },

    async assertMayStore(taskId, byteCount) {
      await withRetries("check the owner's quota", anyRow, () =>
        sql`
        select private.assert_may_store(${taskId}::uuid, ${byteCount}::bigint)`);
    },

    async loadSkill(taskId, skillId) {
      const rows = await withRetries("load the skill", skillRow, () =>
        sql`
        select private.load_skill(${taskId}::uuid, ${toStorableText(skillId)}) as skill`);
      const { skill } = first(rows);
      if (skill === null) return null;
      return {
        skillId: skill.skill_id,
        name: skill.name,
        instructions: skill.instructions ?? "",
        resources: skill.resources ?? {},
        scripts: skill.metadata?.scripts.map(({ path }) => path) ?? [],
      };
    },

    async readResult({ taskId, epoch }, seq) {
      const [row] = await withRetries("read a result", resultRow, () =>
        sql`
        select name, output
        from private.read_result(
          p_task_id => ${taskId}::uuid, p_epoch => ${epoch}::bigint, p_seq => ${seq}::int
        )`);
      return row ?? null;
    },

    async stopWorker(workerId) {
      await once("stop the worker", anyRow, () => sql`select private.stop_worker(${workerId})`);
    },

    async stalledMs(taskIds) {
      const [row] = await once("measure how long tasks waited", stallRow, () =>
        sql`
        select private.stalled_ms(array(select jsonb_array_elements_text(${
          sql.json([...taskIds])
        })::uuid)) as stalled_ms`);
      return row?.stalled_ms ?? 0;
    },

    async wakeSuccessor() {
      await once(
        "wake a successor",
        anyRow,
        () => sql`select private.wake_function('supaswarm-worker')`,
      );
    },

    async isWakeToken(token) {
      const rows = await once("check the wake token", tokenRow, () =>
        sql`
        select private.is_wake_token(${token}) as is_token`);
      return first(rows).is_token;
    },
  };

  async function recordAlone(
    { id, held_epoch, steps, next }: TaskCheckpoint,
  ): Promise<Checkpoint> {
    const rows = await withRetries("record steps", recordRow, () =>
      sql`
      select private.record_steps(
        p_task_id => ${id}::uuid,
        p_epoch => ${held_epoch}::bigint,
        p_lease_seconds => ${leaseSeconds}::int,
        p_steps => ${json(steps)},
        p_next => ${json(next)}
      ) as is_cancelled,
        private.watched_seconds(${id}::uuid)::float8 as watched_seconds`);
    return toCheckpoint(first(rows));
  }

  /** Null for a checkpoint that has to be recorded alone, which then reports what is wrong with it. */
  async function recordAll(
    checkpoints: readonly TaskCheckpoint[],
  ): Promise<(Checkpoint | null)[]> {
    const [only] = checkpoints;
    if (only !== undefined && checkpoints.length === 1) return [await recordAlone(only)];
    const rows = await once("record steps of tasks", recordedRow, () =>
      sql`
      select recorded.place::int, recorded.is_cancelled,
        private.watched_seconds(recorded.task_id)::float8 as watched_seconds
      from private.record_checkpoints(
        p_checkpoints => ${json(checkpoints)},
        p_lease_seconds => ${leaseSeconds}::int
      ) as recorded`).catch(() => []);
    const recorded = new Map(rows.map((row) => [row.place, toCheckpoint(row)]));
    return checkpoints.map((_, index) => recorded.get(index + 1) ?? null);
  }

  async function finishAll(finishes: readonly Finish[]): Promise<string[]> {
    const rows = await once("finish tasks", finishedRow, () =>
      sql`
      select task_id, epoch, status from private.finish_tasks(${json(finishes)})`);
    const statusOf = new Map(rows.map(({ task_id, epoch, status }) => [task_id + epoch, status]));
    return finishes.map(({ id, held_epoch }) => statusOf.get(id + held_epoch) ?? "busy");
  }

  /** Our rows are plain JSON; postgres.js requires an index signature that interfaces lack. */
  function json(value: unknown) {
    return sql.json(toStorableJson(jsonValue.parse(value)));
  }

  function nullable(value: unknown) {
    return value === null ? null : json(value);
  }
}

function toCheckpoint({ is_cancelled, watched_seconds }: z.infer<typeof recordRow>): Checkpoint {
  return { isCancelled: is_cancelled, watchedSeconds: watched_seconds };
}

function toClaimedTask(
  { task_id, epoch, context, watched_seconds }: z.infer<typeof claimedRow>,
): ClaimedTask {
  return {
    taskId: task_id,
    epoch,
    context,
    runsExclusively: context.task.runs_exclusively,
    watchedSeconds: watched_seconds,
  };
}

function first<T>(rows: readonly T[]): T {
  const [row] = rows;
  // A `select function()` always returns one row.
  if (row === undefined) throw new TypeError("the database returned no row");
  return row;
}
