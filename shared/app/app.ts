import type { Config } from "../platform/config/env.ts";
import { runInBackground } from "../platform/isolate/run_in_background.ts";
import type { IsolateSupervisor } from "./create_isolate_supervisor.ts";
import type { Logger } from "../platform/log/logger.ts";
import { createTelemetry, type Telemetry } from "../platform/telemetry/telemetry.ts";
import { traceRequests } from "../platform/telemetry/trace_requests.ts";

/** An edge function's app. */
export interface App {
  fetch(request: Request): Promise<Response>;
  /** Called before the isolate ends. Returns running work. */
  unload?(): Promise<void> | void;
  /** Closes the connections to the database. */
  close(): Promise<void>;
}

/** The app of a function that works in the background; a process runs it without requests. */
export interface WorkerApp extends App {
  readonly supervisor: IsolateSupervisor;
  /** Looks for work now. @returns the worker's id. */
  wake(): string;
}

/** Composes an app from the settings of its function. */
export type CreateApp = (config: Config, log: Logger, telemetry: Telemetry) => App;

/**
 * Composes an edge function's app with a span for each request, exported as configured.
 *
 * @param name The function's name, which is its route.
 */
export function createTracedApp(name: string, create: CreateApp, config: Config, log: Logger): App {
  const telemetry = createTelemetry({
    settings: config.telemetry,
    functionName: name,
    secrets: Object.values(config.apiKeys.secretKeys),
    log,
  });
  const app = create(config, log, telemetry);
  return {
    fetch: traceRequests((request) => app.fetch(request), {
      route: `/${name}`,
      telemetry,
      runInBackground,
    }),
    unload: () => runInBackground(unloadTraced(app, telemetry)),
    async close() {
      await telemetry.close();
      await app.close();
    },
  };
}

/** Includes the spans of background work. */
async function unloadTraced(app: App, telemetry: Telemetry): Promise<void> {
  try {
    await app.unload?.();
  } finally {
    await telemetry.close();
  }
}
