import { jsonSchemaOf } from "../engine/workflows/checked_value.ts";
import { targetOf } from "../engine/workflows/signal_url.ts";
import type { AnyWorkflow } from "../engine/workflows/workflow.ts";
import { createWorkflowStore } from "../engine/workflows/workflow_store.ts";
import { createWorkflowWorker } from "../engine/workflows/workflow_worker.ts";
import { createSqlTaskStore } from "../engine/worker/sql_task_store.ts";
import type { Config } from "../platform/config/env.ts";
import { SwarmError } from "../platform/errors/swarm_error.ts";
import { createHttpHandler } from "../platform/http/http_handler.ts";
import { parseBody } from "../platform/http/parse_body.ts";
import { isolateClock } from "../platform/isolate/clock.ts";
import { openIsolatePool } from "../platform/isolate/isolate_pool.ts";
import type { Logger } from "../platform/log/logger.ts";
import { jsonValue } from "../platform/values/json_schema.ts";
import { createProjectAnnouncer } from "./announce_project.ts";
import type { App } from "./app.ts";
import { createIsolateSupervisor } from "./create_isolate_supervisor.ts";
import { createReleaseCheck } from "./release_check.ts";
import { createServedApp } from "./serve_app.ts";
import { tryInBackground } from "./try_in_background.ts";
import { createWakeGuard } from "./wake_guard.ts";
import { createWorkflowHost, SIGNALS } from "./workflow_host.ts";

export {
  runWorkflow,
  type WorkflowResult,
  type WorkflowScript,
} from "../engine/workflows/run_workflow.ts";
export { NonRetryableError, StepError } from "../engine/workflows/step_errors.ts";
export {
  defineWorkflow,
  type Duration,
  type Flow,
  type FlowToolResult,
  type ReviewAnswer,
  type Schema,
  type StandardSchema,
  type StepAttempt,
  type StepOptions,
  type ToolOptions,
  type Workflow,
  type WorkflowOptions,
} from "../engine/workflows/workflow.ts";

/** How workflows are served. */
export interface ServeOptions {
  /** The name of the edge function, where the database wakes it. @default "workflows" */
  readonly name?: string;
}

/**
 * Serves workflows from an edge function: `Deno.serve(serveWorkflows([publish]))`. A `POST` of the
 * database, or with a secret key, makes it known which workflows it has and looks for their tasks; the
 * work continues in the background.
 *
 * @throws TypeError if two workflows have the same name
 */
export function serveWorkflows(
  workflows: readonly AnyWorkflow[],
  { name = "workflows" }: ServeOptions = {},
): (request: Request) => Promise<Response> {
  const names = workflows.map((workflow) => workflow.name);
  const repeated = names.find((other, index) => names.indexOf(other) !== index);
  if (repeated !== undefined) {
    throw new TypeError(`Cannot serve the workflows: two have the name "${repeated}"`);
  }
  return createServedApp(name, (config, log) => createWorkflowsApp(name, workflows, config, log));
}

/** Composes a runner of workflows, whose wake-ups get 202 immediately. */
export function createWorkflowsApp(
  runner: string,
  workflows: readonly AnyWorkflow[],
  config: Config,
  log: Logger,
): App {
  const sql = openIsolatePool(config.databaseUrl, runner);
  const { leaseSeconds } = config.worker;
  const timing = { leaseSeconds, clock: isolateClock };
  const tasks = createSqlTaskStore(sql, timing);
  const names = workflows.map(({ name }) => name);
  const store = createWorkflowStore(sql, { runner, names, ...timing });
  const host = createWorkflowHost(runner, config, store);
  const ports = { store, tasks, workflows, host, clock: isolateClock, log };
  const supervisor = createIsolateSupervisor({
    config,
    log,
    createWorker: (id, lifetime) =>
      createWorkflowWorker({ id, ports, settings: config.worker, lifetime }),
  });
  const guard = createWakeGuard(config.apiKeys, tasks);
  const announceProject = createProjectAnnouncer(sql, config.apiKeys.url);
  let registered: Promise<void> | null = null;
  const register = () =>
    registered ??= store.register(workflows.map((workflow) => ({
      name: workflow.name,
      description: workflow.description ?? null,
      input_schema: jsonSchemaOf(workflow.input, "input"),
      output_schema: jsonSchemaOf(workflow.output, "output"),
    }))).catch((error) => {
      registered = null;
      throw error;
    });

  const fetch = createHttpHandler(
    { methods: ["POST"], log, ready: createReleaseCheck(sql, log) },
    async (request) => {
      const { pathname } = new URL(request.url);
      const place = pathname.lastIndexOf(SIGNALS);
      if (place >= 0) return await receiveSignal(request, pathname.slice(place + SIGNALS.length));
      await guard(request);
      await register();
      tryInBackground(announceProject(), {
        attempted: "announce the project",
        event: "worker.project_not_announced",
        log,
      });
      return Response.json({ worker_id: supervisor.wake() }, { status: 202 });
    },
  );
  return {
    fetch,
    unload: () => supervisor.unload(),
    close: () => sql.end({ timeout: 1 }),
  };

  /** The holder of the URL needs no other permission. */
  async function receiveSignal(request: Request, token: string): Promise<Response> {
    const target = await targetOf(token, await store.signalKey());
    const data = await parseBody(request, jsonValue);
    if (await store.signal({ ...target, data })) {
      return Response.json({ signal: target.name }, { status: 202 });
    }
    throw new SwarmError("SIGNAL_URL_INVALID", "Cannot send the signal: the URL has been used", {
      hint: "Ask the workflow for another URL.",
    });
  }
}
