import type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";
import { databaseUnavailable } from "./answers.ts";
import { mentionsConnectionLoss } from "../database/connection_loss.ts";
import { captureConsole } from "./console_capture.ts";
import { type LiteGeneration, type LiteOptions, openLiteGeneration } from "./lite_generation.ts";

/** One migration sends many notifications at once. One reload of the schema covers them all. */
const RELOAD_DELAY_MS = 50;
const MAX_REASON_LENGTH = 2_000;

/** The REST, Auth and Storage service. It starts with the first request. */
export interface LiteServer {
  /** Handles a request. Responds with 503 while the database cannot be reached. */
  fetch(request: Request): Promise<Response>;
  /**
   * Starts the service before the first request. Ignores a failure: that request will report it.
   */
  warm(): Promise<void>;
  /** Schedules a reload of the schema. Requests use the old schema until then. */
  reloadSchema(): void;
  /** Discards the current service. The next request starts a new one. */
  restart(): void;
  stop(): Promise<void>;
}

/** Creates the service. It loads and connects only at the first {@linkcode LiteServer.fetch}. */
export function createLiteServer(options: LiteOptions & { readonly log: Logger }): LiteServer {
  const { log } = options;
  const capture = captureConsole();
  const quietly = <T>(work: () => Promise<T>) => capture.run(() => {}, work);
  let current: Promise<LiteGeneration> | null = null;
  let reloadTimer: ReturnType<typeof setTimeout> | null = null;
  let reloads: Promise<void> = Promise.resolve();

  const open = () => quietly(() => openLiteGeneration(options));
  const start = () => {
    if (current === null) {
      const opening = open();
      current = opening;
      // If the service fails to start, the next request starts it again.
      opening.catch(() => {
        if (current === opening) current = null;
      });
    }
    return current;
  };
  const reload = async () => {
    const old = current;
    if (old === null) return;
    try {
      const fresh = await open();
      if (current !== old) return await fresh.retire();
      current = Promise.resolve(fresh);
      await (await old).retire();
    } catch (error) {
      log("warn", "schema_reload_failed", { reason: String(error) });
    }
  };
  return {
    fetch: async (request) => {
      const generation = await start().catch((error) => {
        log("warn", "api_not_started", { reason: String(error) });
        return null;
      });
      if (generation === null) return databaseUnavailable();
      const printed: string[] = [];
      const answer = await capture.run(
        (text) => printed.push(text),
        () => generation.fetch(request),
      );
      if (answer.status < 500) return answer;
      const reason = printed.join("\n").slice(0, MAX_REASON_LENGTH);
      logFailure(log, request, { status: answer.status, reason });
      return mentionsConnectionLoss(reason) ? databaseUnavailable() : answer;
    },
    warm: async () => {
      await start().catch(() => {});
    },
    reloadSchema: () => {
      if (current === null || reloadTimer !== null) return;
      reloadTimer = setTimeout(() => {
        reloadTimer = null;
        reloads = reloads.then(reload);
      }, RELOAD_DELAY_MS);
    },
    restart: () => {
      const old = current;
      current = null;
      // A request to the old server may never settle, so do not wait for the pending reloads.
      reloads = Promise.resolve();
      old?.then((generation) => generation.retire()).catch(() => {});
    },
    stop: async () => {
      if (reloadTimer !== null) clearTimeout(reloadTimer);
      const last = current;
      current = null;
      await reloads;
      await last?.then((generation) => generation.retire(), () => {});
      capture.restore();
    },
  };
}

function logFailure(
  log: Logger,
  request: Request,
  failure: { readonly status: number; readonly reason: string },
): void {
  const { pathname } = new URL(request.url);
  log("error", "request_failed", { method: request.method, path: pathname, ...failure });
}
