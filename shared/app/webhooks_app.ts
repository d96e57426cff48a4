import type { Config } from "../platform/config/env.ts";
import { createHttpHandler } from "../platform/http/http_handler.ts";
import { isolateClock } from "../platform/isolate/clock.ts";
import { createReleaseCheck } from "./release_check.ts";
import { openIsolatePool } from "../platform/isolate/isolate_pool.ts";
import type { Logger } from "../platform/log/logger.ts";
import { createGuardedFetch } from "../platform/net/guarded_fetch.ts";
import { createSqlMessageStore } from "../engine/webhooks/message_store.ts";
import { createWebhookWorker } from "../engine/webhooks/webhook_worker.ts";
import { createSqlTaskStore } from "../engine/worker/sql_task_store.ts";
import type { WorkerApp } from "./app.ts";
import { createWakeGuard } from "./wake_guard.ts";
import { createIsolateSupervisor } from "./create_isolate_supervisor.ts";

const FUNCTION_NAME = "supaswarm-webhooks";
/** Longer than the timeout of a receiver, plus time to record the result. */
const LEASE_SECONDS = 60;
/** Wake-ups are debounced: of several within 150 ms only the first is sent. */
const IDLE_SECONDS = 0.35;

/**
 * Composes `supaswarm-webhooks`: a wake-up gets 202 immediately; due messages are sent in the
 * background, by one worker per isolate.
 */
export function createWebhooksApp(config: Config, log: Logger): WorkerApp {
  const sql = openIsolatePool(config.databaseUrl, FUNCTION_NAME, [], undefined, config.connections);
  const ready = createReleaseCheck(sql, log);
  const options = { leaseSeconds: LEASE_SECONDS, clock: isolateClock };
  const ports = {
    store: createSqlMessageStore(sql, options),
    fetch: createGuardedFetch({ allowLoopback: config.allowLoopback }),
    nowMs: Date.now,
    clock: isolateClock,
    log,
  };
  const supervisor = createIsolateSupervisor({
    config,
    log,
    createWorker: (id, lifetime) =>
      createWebhookWorker({
        id,
        ports,
        lifetime,
        leaseSeconds: LEASE_SECONDS,
        idleSeconds: IDLE_SECONDS,
      }),
  });
  const guard = createWakeGuard(config.apiKeys, createSqlTaskStore(sql, options));

  const fetch = createHttpHandler({ methods: ["POST"], log, ready }, async (request) => {
    await guard(request);
    return Response.json({ worker_id: supervisor.wake() }, { status: 202 });
  });
  return {
    fetch,
    supervisor,
    wake: () => supervisor.wake(),
    unload: () => supervisor.unload(),
    async close() {
      await supervisor.unload();
      await sql.end({ timeout: 1 });
    },
  };
}
