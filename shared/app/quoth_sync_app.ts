import type { Config } from "../platform/config/env.ts";
import { FUNCTION_NAMES } from "../platform/values/function_names.ts";
import { authenticate } from "../platform/http/authenticate.ts";
import { BodyBudget, type CountedBody } from "../platform/http/body_budget.ts";
import { createHttpHandler } from "../platform/http/http_handler.ts";
import { parseBody } from "../platform/http/parse_body.ts";
import { FILES_LIMITS, WEBHOOK_LIMITS } from "../platform/json/json_limits.ts";
import { readBody } from "../platform/http/read_body.ts";
import type { Logger } from "../platform/log/logger.ts";
import { createSqlReceivingStore, type Queued } from "../servers/quoth/sync/receiving_store.ts";
import { filesRequest, receiveFiles } from "../servers/quoth/sync/receive_files.ts";
import {
  receiveWebhook,
  type Webhook,
  type WebhookAnswer,
} from "../servers/quoth/sync/receive_webhook.ts";
import { isolateClock } from "../platform/isolate/clock.ts";
import { createSqlTaskStore } from "../engine/worker/sql_task_store.ts";
import { createReleaseCheck } from "./release_check.ts";
import { openIsolatePool } from "../platform/isolate/isolate_pool.ts";
import { createRequestGate } from "../platform/isolate/request_gate.ts";
import type { WorkerApp } from "./app.ts";
import { createProjectAnnouncer } from "./announce_project.ts";
import { createWakeGuard, WAKE_TOKEN_HEADER } from "./wake_guard.ts";
import { tryInBackground } from "./try_in_background.ts";
import type { Sql } from "../platform/db/sql_client.ts";
import { createGuardedFetch } from "../platform/net/guarded_fetch.ts";
import { createEmbedderResolver } from "../servers/quoth/embedders/resolve_embedder.ts";
import { createGitHubClient } from "../servers/quoth/github/github_client.ts";
import { splitMarkdown } from "../servers/quoth/markdown/split_markdown.ts";
import type { EmbedPart } from "../servers/quoth/sync/embed_part.ts";
import { createSqlChunkStore } from "../servers/quoth/sync/sql_chunk_store.ts";
import { createSqlSyncStore } from "../servers/quoth/sync/sql_sync_store.ts";
import { createSyncWorker } from "../servers/quoth/sync/sync_worker.ts";
import { createIsolateSupervisor, type IsolateSupervisor } from "./create_isolate_supervisor.ts";

/** Name of the edge function, which is the first part of its paths. */
const FUNCTION_NAME = FUNCTION_NAMES.quothSync;
const GITHUB_EVENT_HEADER = "x-github-event";
/** The format of `projects.slug`, or an id. */
const PROJECT = /^[A-Za-z0-9_-]{1,100}$/;

/** Two of the largest pushes in parallel; an isolate has 256 MB in total. */
const MAX_UNSIGNED_BYTES = 2 * WEBHOOK_LIMITS.bytes;

/**
 * Composes `quoth-sync`: GitHub's webhook, files sent with a secret key, and the database's
 * wake-up. Each gets a response as soon as its work is queued; the work continues in the
 * background.
 */
export function createQuothSyncApp(config: Config, log: Logger): WorkerApp {
  const sql = openIsolatePool(config.databaseUrl, FUNCTION_NAME, [], undefined, config.connections);
  const ready = createReleaseCheck(sql, log);
  const gate = createRequestGate(config.cpu);
  const receiving = createSqlReceivingStore(sql);
  const supervisor = createQuothSupervisor(config, sql, log);
  const announceProject = createProjectAnnouncer(sql, config.apiKeys.url);
  const { leaseSeconds } = config.worker;
  const guard = createWakeGuard(
    config.apiKeys,
    createSqlTaskStore(sql, { leaseSeconds, clock: isolateClock }),
  );

  const unsignedBodies = new BodyBudget(MAX_UNSIGNED_BYTES);

  /** Null for a wake-up, which requests nothing else. */
  const handle = async (request: Request): Promise<Response | null> => {
    const event = request.headers.get(GITHUB_EVENT_HEADER);
    if (event !== null) {
      using counted = unsignedBodies.open();
      return toResponse(await receiveWebhook(webhookOf(request, event, counted), receiving));
    }
    if (request.headers.has(WAKE_TOKEN_HEADER)) {
      await guard(request);
      return null;
    }
    await authenticate(request, config.apiKeys, ["service"]);
    const body = await parseBody(request, filesRequest, FILES_LIMITS);
    return accepted(await receiveFiles(body, receiving));
  };

  const answerOne = async (request: Request): Promise<Response> => {
    const answer = await handle(request);
    tryInBackground(announceProject(), {
      attempted: "announce the project",
      event: "quoth.project_not_announced",
      log,
    });
    const workerId = supervisor.wake();
    return answer ?? Response.json({ worker_id: workerId }, { status: 202 });
  };
  const fetch = createHttpHandler({ methods: ["POST"], log, ready }, (request) => {
    // The budget of bodies limits webhooks: they mostly wait for their bodies.
    const isWebhook = request.headers.has(GITHUB_EVENT_HEADER);
    return isWebhook ? answerOne(request) : gate.admit(() => answerOne(request), request);
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

function webhookOf(request: Request, event: string, counted: CountedBody): Webhook {
  const { headers } = request;
  return {
    project: projectOf(new URL(request.url)),
    event,
    deliveryId: headers.get("x-github-delivery"),
    signature: headers.get("x-hub-signature-256"),
    contentType: headers.get("content-type"),
    readBody: () => readBody(request, WEBHOOK_LIMITS.bytes, { counted }),
  };
}

/** The project in `/quoth-sync/<project>`; an impossible one is looked up and not found. */
function projectOf({ pathname }: URL): string | null {
  const segments = pathname.split("/").filter((segment) => segment !== "");
  const named = segments.slice(segments.indexOf(FUNCTION_NAME) + 1);
  if (named.length === 0) return null;
  const project = named.join("/");
  return PROJECT.test(project) ? project : "";
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

/** After this much CPU time another project gets its turn. */
const TURN_CPU_MS = 1_000;
/** Longer than any single request of a sync. */
const LEASE_SECONDS = 60;
/** Wake-ups are debounced: of several within 150 ms only the first is sent. */
const IDLE_SECONDS = 0.35;

/** Wires the workers of syncs to GitHub, the embedders and the isolate's pool. */
function createQuothSupervisor(config: Config, sql: Sql, log: Logger): IsolateSupervisor {
  const guardedFetch = createGuardedFetch({ allowLoopback: config.allowLoopback });
  const options = { leaseSeconds: LEASE_SECONDS, clock: isolateClock };
  const resolveEmbedder = createEmbedderResolver(sql, {
    transport: { fetch: guardedFetch, nowMs: Date.now },
  });
  const ports = {
    store: createSqlSyncStore(sql, options),
    chunks: createSqlChunkStore(sql, options),
    openGitHub: (token: string | null) =>
      createGitHubClient({
        apiUrl: config.githubApiUrl,
        token,
        fetch: guardedFetch,
        nowMs: Date.now,
      }),
    split: splitMarkdown,
    embedPart: async (...[embedder, texts, signal]: Parameters<EmbedPart>) =>
      await (await resolveEmbedder(embedder)).metered.embedPart(texts, signal),
    clock: isolateClock,
    log,
  };
  return createIsolateSupervisor({
    config,
    log,
    createWorker: (id, lifetime) =>
      createSyncWorker({
        id,
        ports,
        lifetime,
        leaseSeconds: LEASE_SECONDS,
        idleSeconds: IDLE_SECONDS,
        turnCpuMs: TURN_CPU_MS,
      }),
  });
}
