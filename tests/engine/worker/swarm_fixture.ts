import { textBlock } from "../../../shared/platform/values/content_block.ts";
import { definedOnly } from "../../../shared/platform/values/defined_only.ts";
import type { ModelAnswer } from "../../../shared/models/llm/model_port.ts";
import type { Logger } from "../../../shared/platform/log/logger.ts";
import { createSql, type Sql } from "../../../shared/platform/db/sql_client.ts";
import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { NO_TELEMETRY, type Telemetry } from "../../../shared/platform/telemetry/telemetry.ts";
import type { AgentTool } from "../../../shared/gateway/tool_contracts/agent_tool.ts";
import type {
  ToolCallOutcome,
  ToolCallRequest,
} from "../../../shared/gateway/tool_contracts/tool_call.ts";
import type { ToolGateway } from "../../../shared/gateway/tool_contracts/tool_gateway.ts";
import type { Artifact } from "../../../shared/engine/worker/artifact_storage.ts";
import { hostedCpuLimits } from "../../e2e/hosted_cpu_limits.ts";
import { createCpuMeter } from "../../../shared/platform/isolate/cpu_meter.ts";
import { isolateClock } from "../../../shared/platform/isolate/clock.ts";
import { createLifetime } from "../../../shared/platform/isolate/lifetime.ts";
import { createSqlTaskStore } from "../../../shared/engine/worker/sql_task_store.ts";
import type { TaskModelCall, TaskPorts } from "../../../shared/engine/worker/task_ports.ts";
import type { ListenForWork } from "../../../shared/engine/work/work_kind.ts";
import type { TaskStore } from "../../../shared/engine/worker/task_store.ts";
import { createTaskWorker } from "../../../shared/engine/worker/task_worker.ts";
import type { Worker } from "../../../shared/engine/work/supervisor.ts";
import { openDatabase } from "../../../stack/open_database.ts";
import { TEST_DATABASE, type TestDatabase } from "../../../scripts/test/test_database.ts";
import { waitFor } from "../../../scripts/wait_for.ts";

/** A scripted model's answer: text, calls, or a failure. */
export type ModelScript = (call: TaskModelCall) => Promise<ModelTurn> | ModelTurn;

/** One answer of a scripted model. */
export interface ModelTurn {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** The output limit at which the answer was cut. @default none: it is whole */
  readonly cutAtTokens?: number;
  /** What of the answer could not be read. */
  readonly unread?: readonly string[];
  /** @default false */
  readonly isRefused?: boolean;
}

/** A tool call of a scripted model. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: JsonObject | null;
}

/** A scripted gateway's answer to a call. */
export type ToolScript = (
  request: ToolCallRequest,
  signal: AbortSignal,
) => Promise<ToolCallOutcome> | ToolCallOutcome;

/** The parts of a test's worker; each has a default that does nothing. */
export interface WorkerParts {
  readonly model?: ModelScript;
  readonly tools?: readonly AgentTool[];
  readonly callTool?: ToolScript;
  readonly relay?: ToolGateway["relay"];
  /** @default stores files in `artifacts` */
  readonly artifacts?: TaskPorts["artifacts"];
  readonly describeFiles?: TaskPorts["describeFiles"];
  /** Replaces `tools`, `callTool` and `relay`. */
  readonly gateway?: ToolGateway;
  readonly telemetry?: Pick<Telemetry, "isOn" | "add">;
  readonly store?: (store: TaskStore) => TaskStore;
  readonly wallClockSeconds?: number;
  /** Whether the CPU limits of a first deployment apply, on this machine. @default true */
  readonly isCpuLimited?: boolean;
  readonly leaseSeconds?: number;
  readonly heartbeatSeconds?: number;
  readonly idleSeconds?: number;
  readonly slots?: number;
  readonly listen?: ListenForWork;
  readonly log?: Logger;
  /**
   * Milliseconds of the worker's clock per millisecond of the test's; its sleeps are not affected.
   * @default 1
   */
  readonly clockRate?: number;
  /** How far the worker's clock is ahead. @default 0 */
  readonly clockAheadMs?: () => number;
}

/** A running worker and everything that it stored outside the database. */
export interface TestWorker {
  readonly worker: Worker;
  readonly artifacts: Artifact[];
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** A task in the form that tests read. */
export interface TaskRow {
  readonly status: string;
  readonly output: JsonValue;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly attempts: number;
  readonly deliveries: number;
  readonly storage_paths: readonly string[];
  readonly intermediate_data: JsonObject;
}

/** A step in the form that tests read. */
export interface StepRow {
  readonly seq: number;
  readonly kind: string;
  readonly state: string;
  readonly name: string | null;
  readonly output: { readonly [key: string]: JsonValue };
}

/** A broadcast piece of a model's answer. */
export interface DeltaRow {
  readonly topic: string;
  /** ISO 8601. */
  readonly at: string;
  /** Of the step. */
  readonly seq: number;
  readonly offset: number;
  readonly text: string;
}

const PROJECT_ROOT = new URL("../../../", import.meta.url).pathname;
/** Long: on a busy machine, a shorter lease could end while its worker is alive. */
const LEASE_SECONDS = 60;

/** A database with the project's migrations, and its workers with scripted models and tools. */
export class Swarm {
  readonly sql: Sql;
  readonly store: TaskStore;
  readonly #stopDatabase: () => Promise<void>;
  readonly url: string;

  private constructor(url: string, stopDatabase: () => Promise<void>) {
    this.url = url;
    this.#stopDatabase = stopDatabase;
    this.sql = createSql(url, { maxConnections: 3, applicationName: "test" });
    this.store = createSqlTaskStore(this.sql, {
      leaseSeconds: LEASE_SECONDS,
      clock: isolateClock,
    });
  }

  static async open(db: TestDatabase = TEST_DATABASE): Promise<Swarm> {
    const database = await openDatabase({
      db,
      dataDir: null,
      projectRoot: PROJECT_ROOT,
      log: () => {},
    });
    const swarm = new Swarm(database.url, () => database.stop());
    await swarm.addAgents();
    return swarm;
  }

  /** Uses a database that the caller runs and has migrated. */
  static attach(url: string): Swarm {
    return new Swarm(url, () => Promise.resolve());
  }

  async close(): Promise<void> {
    await this.sql.end({ timeout: 1 });
    await this.#stopDatabase();
  }

  /** Agents `planner` and `reader` on a provider that needs no key. */
  async addAgents(): Promise<void> {
    await this.sql`
      with provider as (
        insert into public.llm_providers
          (name, display_name, api, base_url, default_model, requires_api_key)
        values ('scripted', 'Scripted', 'openai', 'http://127.0.0.1:9', 'script-1', false)
        returning id
      )
      insert into public.agents (name, slug, description, system_prompt, provider_id)
      select name, name, name || ' of the test', 'You are ' || name, provider.id
      from provider, unnest(array['test-planner', 'test-reader']) as name`;
  }

  async createTask(
    input: JsonValue = "Do it",
    agent = "test-planner",
    budget?: JsonObject,
    { outputSchema = null, maxAttempts = null, ownerId = null, metadata = {} }: {
      readonly outputSchema?: JsonObject | null;
      readonly maxAttempts?: number | null;
      readonly ownerId?: string | null;
      readonly metadata?: JsonObject;
    } = {},
  ): Promise<string> {
    const [row] = await this.sql`
      select task_id from private.create_task(
        ${agent}, ${this.sql.json(input)}, ${ownerId}::uuid,
        p_metadata => ${this.sql.json(metadata)},
        p_budget => ${budget === undefined ? null : this.sql.json(budget)}::jsonb,
        p_output_schema => ${outputSchema === null ? null : this.sql.json(outputSchema)}::jsonb,
        p_max_attempts => ${maxAttempts}::int)`;
    return String(row?.task_id);
  }

  async task(taskId: string): Promise<TaskRow> {
    const [row] = await this.sql`
      select status, output, error, attempts, deliveries, intermediate_data,
        to_jsonb(storage_paths) as storage_paths
      from public.tasks where id = ${taskId}::uuid`;
    return row as unknown as TaskRow;
  }

  async steps(taskId: string): Promise<readonly StepRow[]> {
    const rows = await this.sql`
      select seq, kind, state, name, coalesce(output, '{}') as output
      from public.task_steps where task_id = ${taskId}::uuid order by seq`;
    return rows as unknown as StepRow[];
  }

  async events(taskId: string): Promise<readonly string[]> {
    const rows = await this.sql`
      select type from public.task_events where task_id = ${taskId}::uuid order by id`;
    return rows.map((row) => String(row.type));
  }

  /** Watches the job of the task. */
  async watch(taskId: string): Promise<void> {
    await this.sql`select public.watch_task(${taskId}::uuid)`;
  }

  /** The streamed text of the task that was broadcast, in order. */
  async deltas(taskId: string): Promise<readonly DeltaRow[]> {
    const rows = await this.sql`
      select topic, payload -> 'at' as at, payload -> 'data' -> 'step_seq' as seq,
        payload -> 'data' -> 'offset' as offset, payload -> 'data' -> 'text' as text
      from realtime.messages
      where event = 'model.delta' and payload ->> 'task_id' = ${taskId}
      order by payload ->> 'at'`;
    return [...rows] as unknown as DeltaRow[];
  }

  /** Ends the lease of the task, whose worker is dead, as the next heartbeat of another notices. */
  async endLease(taskId: string): Promise<void> {
    await this.sql`
      update public.tasks set lease_expires_at = now() - interval '1 second'
      where id = ${taskId}::uuid and status = 'running'`;
    await this.sql`select private.return_expired_tasks()`;
  }

  /** Waits until the task has the status. */
  async until(taskId: string, status: string): Promise<TaskRow> {
    return await waitFor(async () => {
      const task = await this.task(taskId);
      return task.status === status ? task : null;
    }, { what: `task to be ${status}` }).catch(async (cause) => {
      const seen = JSON.stringify([await this.task(taskId), await this.steps(taskId)]);
      throw new Error(`The task is not ${status}: ${seen}`, { cause });
    });
  }

  startWorker(parts: WorkerParts = {}): TestWorker {
    const sql = createSql(this.url, { maxConnections: 3, applicationName: "test-worker" });
    const leaseSeconds = parts.leaseSeconds ?? LEASE_SECONDS;
    const store = createSqlTaskStore(sql, { leaseSeconds, clock: isolateClock });
    const artifacts: Artifact[] = [];
    const startedAtMs = performance.now();
    const { clockRate = 1 } = parts;
    const nowMs = () =>
      (performance.now() - startedAtMs) * clockRate + (parts.clockAheadMs?.() ?? 0);
    const clock = { ...isolateClock, nowMs };
    const ports: TaskPorts = {
      store: parts.store?.(store) ?? store,
      callModel: async (call) => toAnswer(await (parts.model ?? (() => ({ text: "" })))(call)),
      gateway: parts.gateway ?? {
        listAgentTools: () => Promise.resolve({ tools: parts.tools ?? [], unavailable: [] }),
        call: async (request, signal) => {
          if (parts.callTool === undefined) throw new TypeError("no tool was expected");
          return await parts.callTool(request, signal);
        },
        ...NO_CATALOGUE,
        relay: parts.relay ?? unexpected,
      },
      artifacts: parts.artifacts ?? {
        put: (artifact) => {
          artifacts.push(artifact);
          return Promise.resolve();
        },
      },
      describeFiles: parts.describeFiles ??
        (() => Promise.reject(new TypeError("no file was expected"))),
      clock,
      telemetry: parts.telemetry ?? NO_TELEMETRY,
      log: parts.log ?? (() => {}),
    };
    const worker = createTaskWorker({
      id: crypto.randomUUID(),
      ports,
      settings: {
        slots: parts.slots ?? 8,
        leaseSeconds,
        heartbeatSeconds: parts.heartbeatSeconds ?? 1,
        idleSeconds: parts.idleSeconds ?? 60,
      },
      lifetime: createLifetime(
        parts.wallClockSeconds ?? 3_600,
        parts.isCpuLimited === false
          ? undefined
          : { ...hostedCpuLimits(), meter: createCpuMeter() },
      ),
      ...definedOnly({ listen: parts.listen }),
    });
    const ended = worker.run().finally(() => sql.end({ timeout: 1 }));
    return {
      worker,
      artifacts,
      ended,
      async stop() {
        await worker.unload();
        await ended;
      },
    };
  }
}

/** The gateway functions that a worker never uses. */
const NO_CATALOGUE: Pick<
  ToolGateway,
  "listServers" | "listServerTools" | "findConnection" | "prepare"
> = {
  listServers: unexpected,
  listServerTools: unexpected,
  findConnection: unexpected,
  prepare: unexpected,
};

function unexpected(): Promise<never> {
  return Promise.reject(new TypeError("a worker requests no catalog"));
}

/** A successful tool result. */
export function answered(text: string, parts: Partial<JsonObject> = {}): ToolCallOutcome {
  return {
    kind: "answered",
    text,
    content: [textBlock(text)],
    isError: false,
    executionId: crypto.randomUUID(),
    feedbackToken: "feedback",
    status: 200,
    ...parts,
  } as ToolCallOutcome;
}

/** A call in a scripted model's answer. */
export function ask(name: string, args: JsonObject | null = {}): ScriptedCall {
  return { name, arguments: args };
}

/** The number of assistant turns in the prompt, which selects the next answer. */
export function turnNumber({ prompt }: TaskModelCall): number {
  return prompt.messages.filter(({ role }) => role === "assistant").length;
}

function toAnswer({ text = "", calls = [], cutAtTokens, unread, isRefused = false }: ModelTurn) {
  const answer: ModelAnswer = {
    text,
    tool_calls: calls.map((call, index) => ({
      call_id: `call_${index}`,
      name: call.name,
      arguments: call.arguments,
    })),
    ...unread === undefined ? {} : { unread: [...unread] },
    ...cutAtTokens === undefined
      ? { finish_reason: isRefused ? "refused" : calls.length > 0 ? "tool_calls" : "stop" }
      : { finish_reason: "length", cut_at_tokens: cutAtTokens },
  };
  const usage = {
    provider_id: null,
    model: "script-1",
    input_tokens: 10,
    cached_input_tokens: 0,
    output_tokens: 5,
    key_source: "none" as const,
  };
  return { answer, usage };
}
