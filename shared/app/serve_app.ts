import { readConfig } from "../platform/config/env.ts";
import { SwarmError } from "../platform/errors/swarm_error.ts";
import { createHttpHandler } from "../platform/http/http_handler.ts";
import { createLogger, type Logger } from "../platform/log/logger.ts";
import { type App, type CreateApp, createTracedApp } from "./app.ts";
import { startMetering } from "../platform/isolate/cpu_meter.ts";
import { keepCombinedSignals } from "../platform/isolate/keep_combined_signals.ts";
import { surviveStrayErrors } from "../platform/isolate/survive_stray_errors.ts";

/** Serves an edge function, as {@linkcode createServedApp} says. */
export function serveApp(name: string, create: CreateApp): void {
  Deno.serve(createServedApp(name, create));
}

/**
 * The handler of an edge function with a span for each request. If it cannot start, it reports the
 * reason in its log and in each response; after a crash at boot, callers would not see the cause.
 *
 * @param name The function's name, for logs and traces.
 */
export function createServedApp(
  name: string,
  create: CreateApp,
): (request: Request) => Promise<Response> {
  const log = createLogger(name);
  surviveStrayErrors(log);
  keepCombinedSignals();
  const noteArrival = startMetering();
  const app = startApp(() => {
    const config = readConfig();
    return createTracedApp(name, create, config, createLogger(name, config.logLevel));
  }, log);
  addEventListener("beforeunload", () => void app.unload?.());
  return (request) => {
    noteArrival();
    return app.fetch(request);
  };
}

/** The app, or a handler that responds to each request with the startup error. */
export function startApp(create: () => App, log: Logger): Pick<App, "fetch" | "unload"> {
  try {
    return create();
  } catch (cause) {
    const error = toBootError(cause);
    const { code, message, hint } = error;
    log("error", "function.not_started", { code, message, hint });
    const methods = ["GET", "POST", "DELETE"];
    return { fetch: createHttpHandler({ methods, log }, () => Promise.reject(error)) };
  }
}

/** The message of an unexpected error may quote a secret setting. */
function toBootError(cause: unknown): SwarmError {
  if (cause instanceof SwarmError) return cause;
  const name = cause instanceof Error ? cause.name : typeof cause;
  return new SwarmError("INTERNAL", `Cannot start the function: it failed with ${name}`, {
    cause,
    hint: "Compare the function's settings with docs/reference/environment.md and deploy it again.",
  });
}
