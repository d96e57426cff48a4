import type { Config } from "../platform/config/env.ts";
import type { Sql } from "../platform/db/sql_client.ts";
import { createModelCaller } from "../models/llm/call_model.ts";
import { createModelAdapter } from "../models/llm/create_model_adapter.ts";
import { createModelKeyResolver } from "../models/llm/resolve_model_key.ts";
import { findScriptedProvider } from "../models/llm/scripted_provider.ts";
import type { Logger } from "../platform/log/logger.ts";
import { createGuardedFetch } from "../platform/net/guarded_fetch.ts";
import { NO_TELEMETRY, type Telemetry } from "../platform/telemetry/telemetry.ts";
import { createArtifactStorage } from "../engine/worker/artifact_storage.ts";
import { isolateClock } from "../platform/isolate/clock.ts";
import { createFileDescriber } from "../engine/worker/describe_files.ts";
import { createTaskModel } from "../engine/worker/create_task_model.ts";
import type { TaskPorts } from "../engine/worker/task_ports.ts";
import type { TaskStore } from "../engine/worker/task_store.ts";
import { createAppGateway } from "./create_app_gateway.ts";
import { serviceKeyOf } from "./service_key.ts";

/** The dependencies of the worker's ports. */
export interface WorkerPortsOptions {
  readonly config: Pick<Config, "apiKeys" | "allowLoopback" | "publicUrl" | "worker">;
  /**
   * The pool for queries of models and tools; statements must be short, because checkpoints share
   * it.
   */
  readonly sql: Sql;
  readonly store: TaskStore;
  /** @default none */
  readonly telemetry?: Telemetry;
  readonly log: Logger;
}

/** Wires a worker to models, tools and Storage. Nothing connects before it is used. */
export function createWorkerPorts(
  { config, sql, store, telemetry = NO_TELEMETRY, log }: WorkerPortsOptions,
): TaskPorts {
  const { apiKeys, allowLoopback, worker } = config;
  const guardedFetch = createGuardedFetch({ allowLoopback });
  const callModel = createModelCaller({
    resolveKey: createModelKeyResolver(sql),
    createAdapter: (endpoint) => createModelAdapter(endpoint, { fetch: guardedFetch }),
    // Scripts are files of the machine that runs the platform.
    ...allowLoopback ? { findStandIn: () => findScriptedProvider(sql) } : {},
  });
  const artifacts = createArtifactStorage({
    url: apiKeys.url,
    secretKey: serviceKeyOf(apiKeys.secretKeys),
  });
  const describeFiles = createFileDescriber(sql);
  return {
    store,
    callModel: createTaskModel(callModel, worker.modelTimeoutSeconds, {
      describeFiles,
      storage: artifacts,
    }),
    gateway: createAppGateway({ config, sql, log, callModel }),
    artifacts,
    describeFiles,
    toolSearchBytes: worker.toolSearchBytes,
    clock: isolateClock,
    telemetry,
    log,
  };
}
