import { z } from "../../vendor/zod.js";
import type { Sql } from "../../platform/db/sql_client.ts";
import type { Clock } from "../../platform/isolate/clock.ts";
import { createQueryRunner } from "../../platform/isolate/query_runner.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { jsonObject, jsonValue } from "../../platform/values/json_schema.ts";
import { toStorableJson } from "../../platform/values/storable_json.ts";
import type { Lease } from "../worker/task_store.ts";
import type { Journal, RecordedStep } from "./journal.ts";

/** A claimed task of a workflow. */
export interface ClaimedWorkflow extends Lease {
  readonly workflow: string;
  readonly input: JsonValue;
  readonly steps: readonly RecordedStep[];
  /** Must run on a worker that runs nothing else. */
  readonly runsExclusively: boolean;
}

/** A workflow as jobs find it. */
export interface ServedWorkflow {
  readonly name: string;
  readonly description: string | null;
  readonly input_schema: JsonObject | null;
  readonly output_schema: JsonObject | null;
}

/** A signal from outside of the platform. */
export interface SentSignal {
  readonly taskId: string;
  readonly name: string;
  readonly data: JsonValue;
  readonly key: string;
}

/** The operations of a runner, each one call and one transaction. */
export interface WorkflowStore {
  /** @throws WORKFLOW_NAME_TAKEN */
  register(workflows: readonly ServedWorkflow[]): Promise<void>;
  claim(workerId: string, limit: number, isIdle: boolean): Promise<ClaimedWorkflow[]>;
  journal(lease: Lease): Journal;
  /** @returns how the task ended. @throws LEASE_LOST */
  finish(lease: Lease, output: JsonValue): Promise<"completed" | "cancelled">;
  wakeSuccessor(): Promise<void>;
  /** @returns whether the signal is new. @throws TASK_NOT_FOUND, SIGNAL_INVALID, SIGNAL_NOT_ACCEPTED */
  signal(signal: SentSignal): Promise<boolean>;
  signalKey(): Promise<string>;
}

/** How a store writes. */
export interface WorkflowStoreOptions {
  /** The name of the edge function, or of the process, that serves the workflows. */
  readonly runner: string;
  /** Its workflows: it claims no others. */
  readonly names: readonly string[];
  readonly leaseSeconds: number;
  readonly clock: Clock;
}

const claimedRow = z.object({
  task_id: z.string(),
  epoch: z.string(),
  context: z.object({ workflow: z.string(), input: jsonValue, runs_exclusively: z.boolean() }),
});
const stepRow = z.object({
  task_id: z.string(),
  seq: z.int(),
  kind: z.enum(["step", "system"]),
  name: z.string(),
  state: z.enum(["started", "done", "failed"]),
  input: jsonObject.nullable(),
  output: jsonObject.nullable(),
  epoch: z.string(),
});
const recordedRow = z.object({ is_cancelled: z.boolean() });
const suspendedRow = z.object({ outcome: z.enum(["parked", "cancelled", "continue"]) });
const finishedRow = z.object({ status: z.enum(["completed", "cancelled"]) });
const signalRow = z.object({ is_new: z.boolean() });
const keyRow = z.object({ key: z.string() });
const anyRow = z.unknown();

/** The store over the functions of schema `private`. */
export function createWorkflowStore(
  sql: Sql,
  { runner, names, leaseSeconds, clock }: WorkflowStoreOptions,
): WorkflowStore {
  const { once, withRetries } = createQueryRunner({ leaseSeconds, clock });
  const json = (value: unknown) => sql.json(toStorableJson(jsonValue.parse(value)));
  const stepsOf = (taskIds: readonly string[]) =>
    withRetries("read steps", stepRow, () =>
      sql`
      select task_id, seq, kind, name, state, input, output, epoch
      from private.workflow_steps(p_task_ids => ${json(taskIds)})`);

  return {
    async register(workflows) {
      await once("register the workflows", anyRow, () =>
        sql`
        select private.register_workflows(p_runner => ${runner}, p_workflows => ${
          json(workflows)
        })`);
    },

    async claim(workerId, limit, isIdle) {
      const rows = await once("claim workflows", claimedRow, () =>
        sql`
        select task_id, epoch, context
        from private.claim_tasks(
          p_worker_id => ${workerId},
          p_limit => ${limit}::int,
          p_lease_seconds => ${leaseSeconds}::int,
          p_is_idle => ${isIdle}::boolean,
          p_runner => ${runner},
          p_workflows => array(select jsonb_array_elements_text(${json(names)}))
        )`);
      const steps = new Map<string, RecordedStep[]>(rows.map(({ task_id }) => [task_id, []]));
      if (rows.length > 0) {
        for (const { task_id, ...step } of await stepsOf([...steps.keys()])) {
          steps.get(task_id)?.push(step);
        }
      }
      return rows.map(({ task_id, epoch, context }) => ({
        taskId: task_id,
        epoch,
        workflow: context.workflow,
        input: context.input,
        runsExclusively: context.runs_exclusively,
        steps: steps.get(task_id) ?? [],
      }));
    },

    journal({ taskId, epoch }) {
      return {
        async record(steps) {
          const [row] = await withRetries("record steps", recordedRow, () =>
            sql`
            select private.record_workflow(
              p_task_id => ${taskId}::uuid,
              p_epoch => ${epoch}::bigint,
              p_lease_seconds => ${leaseSeconds}::int,
              p_steps => ${json(steps)}
            ) as is_cancelled`);
          return row?.is_cancelled ?? false;
        },
        async suspend(waiting) {
          const [row] = await withRetries("park the workflow", suspendedRow, () =>
            sql`
            select private.suspend_workflow(
              p_task_id => ${taskId}::uuid,
              p_epoch => ${epoch}::bigint,
              p_waiting => ${json(waiting)}
            ) as outcome`);
          return row === undefined || row.outcome === "continue"
            ? await stepsOf([taskId])
            : row.outcome;
        },
      };
    },

    async finish({ taskId, epoch }, output) {
      const [row] = await withRetries("finish the workflow", finishedRow, () =>
        sql`
        select private.finish_workflow(
          p_task_id => ${taskId}::uuid, p_epoch => ${epoch}::bigint, p_output => ${json(output)}
        ) as status`);
      return row?.status ?? "completed";
    },

    async wakeSuccessor() {
      await once("wake a successor", anyRow, () =>
        sql`
        select private.wake_function(${runner})`);
    },

    async signal({ taskId, name, data, key }) {
      const [row] = await once("send the signal", signalRow, () =>
        sql`
        select is_new
        from private.store_signal(
          p_task_id => ${taskId}::uuid,
          p_name => ${name},
          p_data => ${json(data)},
          p_key => ${key},
          p_sent_as => 'url'
        )`);
      return row?.is_new ?? false;
    },

    async signalKey() {
      const [row] = await once("read the key of signal URLs", keyRow, () =>
        sql`
        select private.signal_key() as key`);
      return row?.key ?? "";
    },
  };
}
