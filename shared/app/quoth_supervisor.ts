import type { Config } from "../platform/config/env.ts";
import type { Sql } from "../platform/db/sql_client.ts";
import type { Logger } from "../platform/log/logger.ts";
import { createGuardedFetch } from "../platform/net/guarded_fetch.ts";
import { createEmbedderResolver } from "../servers/quoth/embedders/resolve_embedder.ts";
import { createGitHubClient } from "../servers/quoth/github/github_client.ts";
import { splitMarkdown } from "../servers/quoth/markdown/split_markdown.ts";
import type { EmbedPart } from "../servers/quoth/sync/embed_part.ts";
import { createSqlChunkStore } from "../servers/quoth/sync/sql_chunk_store.ts";
import { createSqlSyncStore } from "../servers/quoth/sync/sql_sync_store.ts";
import { createSyncWorker } from "../servers/quoth/sync/sync_worker.ts";
import { isolateClock } from "../platform/isolate/clock.ts";
import type { Supervisor } from "../engine/work/supervisor.ts";
import { createIsolateSupervisor } from "./create_isolate_supervisor.ts";

/** After this much CPU time another project gets its turn. */
const TURN_CPU_MS = 1_000;
/** Longer than any single request of a sync. */
const LEASE_SECONDS = 60;
/** Wake-ups are debounced: of several within 150 ms only the first is sent. */
const IDLE_SECONDS = 0.35;

/** Wires the workers of syncs to GitHub, the embedders and the isolate's pool. */
export function createQuothSupervisor(config: Config, sql: Sql, log: Logger): Supervisor {
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
