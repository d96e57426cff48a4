import { findFunctions } from "./find_functions.ts";
import { FunctionFailure } from "./function_failure.ts";
import type { FunctionLog } from "./function_log.ts";
import type { IsolateLimits } from "./isolate.ts";
import { type FunctionUsage, IsolatePool } from "./isolate_pool.ts";
import { watchSources } from "./watch_sources.ts";

/**
 * The hosted platform's limits: 2 s of CPU time, no new requests from 1 s on; 400 s of wall clock
 * (paid plan); 150 s to the head of an answer.
 */
const DEFAULT_LIMITS: IsolateLimits = {
  cpu: { softMs: 1_000, hardMs: 2_000 },
  wallClockMs: 400_000,
  requestTimeoutMs: 150_000,
  bootTimeoutMs: 60_000,
  blockedMs: 10_000,
};

/** How the host is made. */
export interface FunctionHostOptions extends Partial<IsolateLimits> {
  /** The folder with `deno.json` and `supabase/functions`. */
  readonly projectRoot: string;
  /** All that the functions see of an environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Loads the code anew when it changes. */
  readonly watch: boolean;
  readonly onLog: FunctionLog;
}

/** Runs a project's edge functions as the hosted platform does. */
export interface FunctionHost {
  /** The functions that there are, sorted. */
  readonly names: readonly string[];
  /**
   * Answers a request with the function `name`, starting it when needed. The path may carry
   * `/functions/v1`, which the function does not see. Never throws: what fails is an answer.
   */
  fetch(name: string, request: Request): Promise<Response>;
  /** What the isolates of `name` have used so far. */
  usageOf(name: string): FunctionUsage;
  /** Ends all functions and their process; safe to repeat. */
  stop(): Promise<void>;
}

/** Makes the host; functions start at their first request. */
export async function createFunctionHost(options: FunctionHostOptions): Promise<FunctionHost> {
  const { projectRoot, env, watch, onLog, ...limits } = options;
  let functions = await findFunctions(projectRoot);
  const pool = new IsolatePool({
    projectRoot,
    env,
    onLog,
    limits: { ...DEFAULT_LIMITS, ...limits },
  });
  const reload = async () => {
    functions = await findFunctions(projectRoot);
    pool.retireAll();
  };
  const stopWatching = watch ? watchSources(projectRoot, () => void reload()) : () => {};
  let stopped: Promise<void> | null = null;

  return {
    get names() {
      return [...functions.keys()];
    },
    async fetch(name, request) {
      try {
        const entry = functions.get(name);
        if (entry === undefined) {
          throw new FunctionFailure("FUNCTION_NOT_FOUND", `There is no edge function '${name}'`);
        }
        return await pool.acquire(name, entry).fetch(request, functionPath(request));
      } catch (error) {
        return toResponse(error, request);
      }
    },
    usageOf: (name) => pool.usageOf(name),
    stop() {
      stopWatching();
      return stopped ??= pool.stop();
    },
  };
}

function functionPath(request: Request): string {
  const { pathname, search } = new URL(request.url);
  return `${pathname.replace(/^\/functions\/v1(?=\/)/, "")}${search}`;
}

function toResponse(error: unknown, request: Request): Response {
  if (error instanceof FunctionFailure) return error.toResponse();
  // Nobody is left to read it; 499 is the usual status in logs for a client that went away.
  if (request.signal.aborted) return new Response(null, { status: 499 });
  const message = "Cannot pass the request on to the function";
  return new FunctionFailure("FUNCTION_EXCHANGE_BROKEN", message).toResponse();
}
