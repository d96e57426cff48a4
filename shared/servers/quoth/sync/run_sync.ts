import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { embedChunks } from "./embed_chunks.ts";
import { reconcile } from "./reconcile.ts";
import type { SyncEnd, SyncPorts, SyncRun } from "./sync_ports.ts";
import type { ClaimedSync } from "./sync_store.ts";

/** A concurrent switch of embedder: the sync is read again. */
const STALE_WAIT_SECONDS = 1;

/** Runs a claimed sync as far as possible, and records how it ended. */
export async function runSync(sync: ClaimedSync, ports: SyncPorts, run: SyncRun): Promise<SyncEnd> {
  try {
    return await runKind(sync, ports, run);
  } catch (error) {
    if (error instanceof SwarmError && error.code === "LEASE_LOST") return "lost";
    return await settle(sync, error, ports, run);
  }
}

async function runKind(sync: ClaimedSync, ports: SyncPorts, run: SyncRun): Promise<SyncEnd> {
  switch (sync.context.kind) {
    case "tree":
    case "files":
      return await reconcile(sync, ports, run);
    case "embed":
      return await embedChunks(sync, ports, run);
  }
}

async function settle(
  sync: ClaimedSync,
  cause: unknown,
  { store, log }: SyncPorts,
  { signal }: SyncRun,
): Promise<SyncEnd> {
  try {
    if (signal.aborted) {
      await store.yield(sync);
      return "yielded";
    }
    const error = toFailure(cause);
    const retryAfterSeconds = error.code === "EMBEDDER_MISMATCH"
      ? STALE_WAIT_SECONDS
      : error.retryAfterSeconds ?? null;
    const isRetryable = error.isRetryable || retryAfterSeconds !== null;
    const status = await store.fail(sync, error.toBody(), { isRetryable, retryAfterSeconds });
    log(status === "failed" ? "error" : "warn", "quoth.sync_stopped", {
      sync_id: sync.syncId,
      code: error.code,
      status,
      retry_after_seconds: retryAfterSeconds ?? undefined,
    });
    return status === "failed" ? "failed" : "waiting";
  } catch (error) {
    // The lease expires, and another worker continues.
    if (error instanceof SwarmError) return "lost";
    throw error;
  }
}

function toFailure(cause: unknown): SwarmError {
  if (cause instanceof SwarmError) return cause;
  return new SwarmError("INTERNAL", "Cannot continue the sync: the worker failed unexpectedly", {
    cause,
    hint: "Look into the log of quoth-sync; the sync retries automatically.",
  });
}
