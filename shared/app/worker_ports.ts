import type { Config } from "../config/env.ts";
import type { Sql } from "../db/sql_client.ts";
import { createModelCaller } from "../llm/call_model.ts";
import { createModelAdapter } from "../llm/create_model_adapter.ts";
import { createModelKeyResolver } from "../llm/resolve_model_key.ts";
import type { Logger } from "../log/logger.ts";
import { createGuardedFetch } from "../net/guarded_fetch.ts";
import { NO_TELEMETRY, type Telemetry } from "../telemetry/telemetry.ts";
import { createArtifactStorage } from "../worker/artifact_storage.ts";
import { isolateClock } from "../isolate/clock.ts";
import type { CpuMeter } from "../isolate/cpu_meter.ts";
import { createFileDescriber } from "../worker/describe_files.ts";
import { createTaskModel } from "../worker/create_task_model.ts";
import { meteredPorts } from "../worker/metered_ports.ts";
import type { TaskPorts } from "../worker/task_ports.ts";
import type { TaskStore } from "../worker/task_store.ts";
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
  /** Counts the cost of models and tools. @default none */
  readonly meter?: CpuMeter;
  readonly log: Logger;
}

/** Wires a worker to models, tools and Storage. Nothing connects before it is used. */
export function createWorkerPorts(
  { config, sql, store, telemetry = NO_TELEMETRY, meter, log }: WorkerPortsOptions,
): TaskPorts {
  const { apiKeys, allowLoopback, worker } = config;
  const guardedFetch = createGuardedFetch({ allowLoopback });
  const onLook = (pieceCount: number) => {
    meter?.charge("streamLook");
    meter?.charge("streamPiece", pieceCount);
  };
  const callModel = createModelCaller({
    resolveKey: createModelKeyResolver(sql),
    createAdapter: (endpoint) => createModelAdapter(endpoint, { fetch: guardedFetch, onLook }),
  });
  const artifacts = createArtifactStorage({
    url: apiKeys.url,
    secretKey: serviceKeyOf(apiKeys.secretKeys),
  });
  const describeFiles = createFileDescriber(sql);
  const ports: TaskPorts = {
    store,
    callModel: createTaskModel(callModel, worker.modelTimeoutSeconds, {
      describeFiles,
      storage: artifacts,
    }),
    gateway: createAppGateway({ config, sql, log, callModel }),
    artifacts,
    describeFiles,
    clock: isolateClock,
    telemetry,
    log,
  };
  return meter === undefined ? ports : meteredPorts(ports, meter);
}
