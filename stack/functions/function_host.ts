import { findFunctions } from "./find_functions.ts";
import { FunctionFailure } from "./function_failure.ts";
import { type FunctionLog, toLogLine } from "./function_log.ts";
import type { IsolateLimits } from "./isolate.ts";
import { type FunctionUsage, IsolatePool } from "./isolate_pool.ts";
import { watchFolders } from "../watch_folders.ts";

/**
 * The hosted platform's limits: 2 s of CPU time with no new requests after 1 s, 400 s of wall clock
 * (paid plan), and 150 s until the response headers.
 */
const DEFAULT_LIMITS: IsolateLimits = {
  cpu: { softMs: 1_000, hardMs: 2_000 },
  wallClockMs: 400_000,
  requestTimeoutMs: 150_000,
  bootTimeoutMs: 60_000,
  blockedMs: 10_000,
};

/** What functions are made of, relative to the project. */
const SOURCES = ["supabase/functions", "shared", "deno.json"];

/** Options of {@linkcode createFunctionHost}. */
export interface FunctionHostOptions extends Partial<IsolateLimits> {
  /** The folder with `supabase/`. */
  readonly projectRoot: string;
  /** The complete environment of the functions. */
  readonly env: Readonly<Record<string, string>>;
  /** Reloads the code when it changes. */
  readonly watch: boolean;
  readonly onLog: FunctionLog;
}

/** Runs a project's edge functions as the hosted platform does. */
export interface FunctionHost {
  /** Names of all functions, sorted. */
  readonly names: readonly string[];
  /**
   * Responds to a request with the function `name`, and starts it if needed. Removes
   * `/functions/v1` from the path. Never throws: a failure becomes an error response.
   */
  fetch(name: string, request: Request): Promise<Response>;
  /** Returns what the isolates of `name` have used so far. */
  usageOf(name: string): FunctionUsage;
  /** Stops all functions and their process. Safe to repeat. */
  stop(): Promise<void>;
}

/** Creates the host. Each function starts with its first request. */
export async function createFunctionHost(options: FunctionHostOptions): Promise<FunctionHost> {
  const { projectRoot, env, watch, onLog, ...limits } = options;
  let functions = await findFunctions(projectRoot);
  const pool = new IsolatePool({
    projectRoot,
    env,
    onLog,
    limits: { ...DEFAULT_LIMITS, ...limits },
  });
  pool.load(functions.values());
  const reload = async () => {
    try {
      functions = await findFunctions(projectRoot);
      pool.load(functions.values());
    } catch (error) {
      onLog(toLogLine("edge-runtime", "error", String(error)));
    }
  };
  const stopWatching = watch ? watchFolders(projectRoot, SOURCES, reload) : async () => {};
  let stopped: Promise<void> | null = null;

  return {
    get names() {
      return [...functions.keys()];
    },
    async fetch(name, request) {
      try {
        const found = functions.get(name);
        if (found === undefined) {
          throw new FunctionFailure("FUNCTION_NOT_FOUND", `Edge function '${name}' not found`);
        }
        return await pool.acquire(name, found).fetch(request, functionPath(request));
      } catch (error) {
        return toResponse(error, request);
      }
    },
    usageOf: (name) => pool.usageOf(name),
    stop() {
      return stopped ??= stopWatching().then(() => pool.stop());
    },
  };
}

function functionPath(request: Request): string {
  const { pathname, search } = new URL(request.url);
  return `${pathname.replace(/^\/functions\/v1(?=\/)/, "")}${search}`;
}

function toResponse(error: unknown, request: Request): Response {
  if (error instanceof FunctionFailure) return error.toResponse();
  // The client has disconnected and reads no response. 499 is the usual status for this in logs.
  if (request.signal.aborted) return new Response(null, { status: 499 });
  const message = "Cannot forward the request to the function";
  return new FunctionFailure("FUNCTION_EXCHANGE_BROKEN", message).toResponse();
}
