import { waitFor } from "../../../scripts/wait_for.ts";
import { createSql } from "../../../shared/platform/db/sql_client.ts";
import { isolateClock } from "../../../shared/platform/isolate/clock.ts";
import { createLifetime } from "../../../shared/platform/isolate/lifetime.ts";
import type { Logger } from "../../../shared/platform/log/logger.ts";
import type { JsonValue } from "../../../shared/platform/values/json.ts";
import { jsonSchemaOf } from "../../../shared/engine/workflows/checked_value.ts";
import type { AnyWorkflow } from "../../../shared/engine/workflows/workflow.ts";
import {
  createWorkflowStore,
  type WorkflowStore,
} from "../../../shared/engine/workflows/workflow_store.ts";
import { createWorkflowWorker } from "../../../shared/engine/workflows/workflow_worker.ts";
import { createSqlTaskStore } from "../../../shared/engine/worker/sql_task_store.ts";
import type { Swarm } from "../worker/swarm_fixture.ts";

const RUNNER = "workflows";
/** Long: a lease ends only where a test ends it. */
const LEASE_SECONDS = 60;
const WAKE_MS = 200;

/** The parts of a test's runner. */
export interface RunnerParts {
  /** @default "workflows" */
  readonly runner?: string;
  readonly store?: (store: WorkflowStore) => WorkflowStore;
  readonly log?: Logger;
}

/** A running worker of workflows. */
export interface TestRunner {
  stop(): Promise<void>;
}

/** Registers the workflows and starts a worker for them, as an isolate does at its first wake-up. */
export async function startRunner(
  swarm: Swarm,
  workflows: readonly AnyWorkflow[],
  { runner = RUNNER, store: wrap = (store) => store, log = () => {} }: RunnerParts = {},
): Promise<TestRunner> {
  const sql = createSql(swarm.url, { maxConnections: 3, applicationName: "test-runner" });
  const timing = { leaseSeconds: LEASE_SECONDS, clock: isolateClock };
  const names = workflows.map(({ name }) => name);
  const store = createWorkflowStore(sql, { runner, names, ...timing });
  await store.register(workflows.map((workflow) => ({
    name: workflow.name,
    description: workflow.description ?? null,
    input_schema: jsonSchemaOf(workflow.input, "input"),
    output_schema: jsonSchemaOf(workflow.output, "output"),
  })));
  const worker = createWorkflowWorker({
    id: crypto.randomUUID(),
    ports: {
      store: wrap(store),
      tasks: createSqlTaskStore(sql, timing),
      workflows,
      host: {
        signalUrl: (_, name) => Promise.resolve(`https://example.com/${name}`),
        callTool: () => Promise.reject(new TypeError("no tool was expected")),
      },
      clock: isolateClock,
      log,
    },
    settings: { slots: 8, leaseSeconds: LEASE_SECONDS, heartbeatSeconds: 1, idleSeconds: 3_600 },
    lifetime: createLifetime(3_600),
  });
  // Nothing requests a wake-up of an edge function that does not run.
  const waking = setInterval(() => worker.wake(), WAKE_MS);
  const ended = worker.run().finally(() => {
    clearInterval(waking);
    return sql.end({ timeout: 1 });
  });
  return {
    async stop() {
      clearInterval(waking);
      await worker.unload();
      await ended;
    },
  };
}

/** A worker that dies at a write: neither this one nor any later call reaches the database. */
export function dyingAtWrite(
  fatal: number,
  onDeath: () => void,
): (store: WorkflowStore) => WorkflowStore {
  let writes = 0;
  let claiming: Promise<unknown> = Promise.resolve();
  const never = () => new Promise<never>(() => {});
  const write = <T>(call: () => Promise<T>): Promise<T> => {
    if (++writes < fatal) return call();
    // A claim that is on its way could take the task for the dead worker.
    void claiming.catch(() => {}).then(onDeath);
    return never();
  };
  return (store) => ({
    ...store,
    claim(...args) {
      if (writes >= fatal) return never();
      const claimed = store.claim(...args);
      claiming = claimed;
      return claimed;
    },
    journal(lease) {
      const journal = store.journal(lease);
      return {
        record: (steps) => write(() => journal.record(steps)),
        suspend: (waiting) => write(() => journal.suspend(waiting)),
      };
    },
    finish: (lease, output) => write(() => store.finish(lease, output)),
  });
}

/** Ends the lease of a running task, also when the heartbeat of its worker renews it meanwhile. */
export async function loseLease(swarm: Swarm, taskId: string): Promise<void> {
  const epoch = async () => {
    const [row] = await swarm.sql`
      select epoch::text, status from public.tasks where id = ${taskId}::uuid`;
    return row?.status === "running" ? row.epoch : null;
  };
  const held = await epoch();
  await waitFor(async () => {
    await swarm.endLease(taskId);
    return await epoch() !== held;
  }, { what: "the lease to end" });
}

/** A user with an account. */
export async function addUser({ sql }: Swarm): Promise<string> {
  const id = crypto.randomUUID();
  await sql`insert into auth.users (id, email) values (${id}::uuid, ${`${id}@example.com`})`;
  return id;
}

/** Who calls an RPC: a user, or the service (null). */
export async function signalAs(
  { sql }: Swarm,
  userId: string | null,
  signal: { taskId: string; name: string; data?: JsonValue; key?: string },
): Promise<number> {
  const role = userId === null ? "service_role" : "authenticated";
  return await sql.begin(async (transaction) => {
    await transaction`select set_config('role', ${role}, true),
      set_config('request.jwt.claims', ${
      JSON.stringify({ role, sub: userId ?? undefined })
    }, true)`;
    const [row] = await transaction`
      select public.signal_task(
        ${signal.taskId}::uuid, ${signal.name}, ${sql.json(signal.data ?? null)}, ${
      signal.key ?? null
    }
      )::int as id`;
    return Number(row?.id);
  });
}

/** Answers a review of a task as the service. */
export async function answerReview(
  { sql }: Swarm,
  taskId: string,
  isApproved: boolean,
  seq: number | null = null,
): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`select set_config('request.jwt.claims', '{"role": "service_role"}', true)`;
    await transaction`
      select public.respond_to_review(
        ${taskId}::uuid, ${isApproved}, p_seq => ${seq}::int
      )`;
  });
}
