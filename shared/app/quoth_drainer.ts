import type { Config } from "../config/env.ts";
import type { Sql } from "../db/sql_client.ts";
import type { Logger } from "../log/logger.ts";
import { createGuardedFetch } from "../net/guarded_fetch.ts";
import { createEmbedderResolver } from "../quoth/embedders/resolve_embedder.ts";
import { createGitHubClient } from "../quoth/github/github_client.ts";
import { splitMarkdown } from "../quoth/markdown/split_markdown.ts";
import { drainSyncs } from "../quoth/sync/drain_syncs.ts";
import type { EmbedPart } from "../quoth/sync/embed_part.ts";
import { createSqlChunkStore } from "../quoth/sync/sql_chunk_store.ts";
import { createSqlSyncStore } from "../quoth/sync/sql_sync_store.ts";
import { createSyncDrainer, type SyncDrainer } from "../quoth/sync/sync_drainer.ts";
import { isolateClock } from "../isolate/clock.ts";
import { createLifetime } from "../isolate/lifetime.ts";
import { runInBackground } from "../isolate/run_in_background.ts";

/** Half of what the hosted platform lets an invocation use; the estimate may be that wrong. */
const CPU_MS = 1_000;
/** Longer than any single request of a sync. */
const LEASE_SECONDS = 60;

/** The part of an isolate that works off syncs. */
export interface QuothDrainer extends SyncDrainer {
  readonly workerId: string;
  /** Hands on what is running. */
  unload(): void;
}

/** Wires the worker of syncs to GitHub, the embedders and the isolate's pool. */
export function createQuothDrainer(config: Config, sql: Sql, log: Logger): QuothDrainer {
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
  const workerId = crypto.randomUUID();
  const lifetime = createLifetime(config.worker.wallClockSeconds);
  const ended = new AbortController();
  const drainer = createSyncDrainer({
    drain: () =>
      drainSyncs(ports, {
        workerId,
        cpuMs: CPU_MS,
        leaseSeconds: LEASE_SECONDS,
        isOpen: () => lifetime.phaseAt(isolateClock.nowMs()) === "open",
        signal: ended.signal,
      }),
    runInBackground,
    log,
  });
  return {
    workerId,
    wake: drainer.wake,
    unload: () => ended.abort(),
  };
}
