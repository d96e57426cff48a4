import type { Config } from "../config/env.ts";
import { toSwarmError } from "../db/to_swarm_error.ts";
import { authenticate } from "../http/authenticate.ts";
import { createHttpHandler } from "../http/http_handler.ts";
import { parseBody } from "../http/parse_body.ts";
import { readBody } from "../http/read_body.ts";
import type { Logger } from "../log/logger.ts";
import { createSqlReceivingStore, type Queued } from "../quoth/sync/receiving_store.ts";
import { filesRequest, receiveFiles } from "../quoth/sync/receive_files.ts";
import { receiveWebhook, type Webhook, type WebhookAnswer } from "../quoth/sync/receive_webhook.ts";
import { isolateClock } from "../worker/clock.ts";
import { createSqlTaskStore } from "../worker/sql_task_store.ts";
import { openIsolatePool } from "./isolate_pool.ts";
import { createProjectAnnouncer } from "./announce_project.ts";
import { createQuothDrainer } from "./quoth_drainer.ts";
import { runInBackground } from "./run_in_background.ts";
import { createWakeGuard, WAKE_TOKEN_HEADER } from "./wake_guard.ts";

/** GitHub sends no larger payload. */
const MAX_BODY_BYTES = 25 * 1_048_576;

/** The door through which repositories come in, and what has to happen when its isolate ends. */
export interface QuothSyncApp {
  fetch(request: Request): Promise<Response>;
  /** Hands a running sync on; for `beforeunload`. */
  unload(): void;
  /** Closes the connections to the database. */
  close(): Promise<void>;
}

/**
 * Composes `quoth-sync`: GitHub's webhook, files sent with a secret key, and the wake of the
 * database. Each is answered as soon as its work is queued; the work goes on in the background.
 */
export function createQuothSyncApp(config: Config, log: Logger): QuothSyncApp {
  const sql = openIsolatePool(config.databaseUrl, "quoth-sync");
  const receiving = createSqlReceivingStore(sql);
  const drainer = createQuothDrainer(config, sql, log);
  const announceProject = createProjectAnnouncer(sql, config.apiKeys.url);
  const { leaseSeconds } = config.worker;
  const guard = createWakeGuard(
    config.apiKeys,
    createSqlTaskStore(sql, { leaseSeconds, clock: isolateClock }),
  );

  const handle = async (request: Request): Promise<Response> => {
    const event = request.headers.get("x-github-event");
    if (event !== null) {
      return toResponse(await receiveWebhook(webhookOf(request, event), receiving));
    }
    if (request.headers.has(WAKE_TOKEN_HEADER)) {
      await guard(request);
      return Response.json({ worker_id: drainer.workerId }, { status: 202 });
    }
    await authenticate(request, config.apiKeys, ["service"]);
    const body = await parseBody(request, filesRequest, { maxBytes: MAX_BODY_BYTES });
    return accepted(await receiveFiles(body, receiving));
  };

  const fetch = createHttpHandler({ methods: ["POST"], log }, async (request) => {
    const response = await handle(request);
    runInBackground(
      announceProject().catch((error) => {
        const { code } = toSwarmError(error, "announce the project");
        log("warn", "quoth.project_not_announced", { code });
      }),
    );
    drainer.wake();
    return response;
  });
  return {
    fetch,
    unload: drainer.unload,
    async close() {
      drainer.unload();
      await sql.end({ timeout: 1 });
    },
  };
}

function webhookOf(request: Request, event: string): Webhook {
  const { headers } = request;
  return {
    event,
    deliveryId: headers.get("x-github-delivery"),
    signature: headers.get("x-hub-signature-256"),
    contentType: headers.get("content-type"),
    readBody: () => readBody(request, MAX_BODY_BYTES),
  };
}

function toResponse(answer: WebhookAnswer): Response {
  switch (answer.kind) {
    case "pong":
      return Response.json({ pong: true });
    case "ignored":
      return Response.json({ ignored: answer.reason }, { status: 202 });
    case "queued":
      return accepted(answer);
  }
}

function accepted({ syncId, queuedCount }: Queued): Response {
  return Response.json({ sync_id: syncId, queued: queuedCount }, { status: 202 });
}
