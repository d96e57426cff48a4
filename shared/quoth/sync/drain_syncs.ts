import { SwarmError } from "../../errors/swarm_error.ts";
import { createCpuBudget } from "./cpu_budget.ts";
import { runSync } from "./run_sync.ts";
import type { SyncPorts } from "./sync_ports.ts";

/** How a drain paces itself. */
export interface DrainOptions {
  readonly workerId: string;
  /** CPU time after which the next invocation takes over. */
  readonly cpuMs: number;
  readonly leaseSeconds: number;
  /** Whether there is still time to claim something. */
  readonly isOpen: () => boolean;
  /** The isolate is about to end. */
  readonly signal: AbortSignal;
}

/** Wakes are debounced: of several within 150 ms only the first is sent. */
const LAST_LOOK_MS = 350;

/**
 * Runs one sync after another until there is none, or until this invocation has used its CPU time;
 * what is left then wakes the next.
 *
 * @returns how many runs there were.
 */
export async function drainSyncs(ports: SyncPorts, options: DrainOptions): Promise<number> {
  const { clock, store, log } = ports;
  const budget = createCpuBudget(options.cpuMs, clock, options.isOpen);
  let runs = 0;
  let isLastLook = false;
  while (!options.signal.aborted && !budget.isSpent()) {
    const sync = await store.claim(options.workerId);
    if (sync === null) {
      if (isLastLook) break;
      isLastLook = true;
      await clock.sleep(LAST_LOOK_MS, options.signal);
      continue;
    }
    isLastLook = false;
    runs++;
    const lease = keepLease(ports, sync, options);
    const startedAtMs = clock.nowMs();
    try {
      const end = await runSync(sync, ports, { budget, signal: lease.signal });
      log("info", "quoth.sync_ran", {
        sync_id: sync.syncId,
        kind: sync.context.kind,
        end,
        duration_ms: Math.round(clock.nowMs() - startedAtMs),
      });
    } finally {
      await lease.release();
    }
  }
  return runs;
}

/** Renews a lease on a timer of its own; the signal aborts when it is lost. */
function keepLease(
  { store, clock }: SyncPorts,
  lease: { readonly syncId: string; readonly epoch: string },
  { leaseSeconds, signal }: DrainOptions,
): { readonly signal: AbortSignal; release(): Promise<void> } {
  const released = new AbortController();
  const lost = new AbortController();
  const beating = (async () => {
    while (true) {
      await clock.sleep(leaseSeconds * 1_000 / 3, released.signal);
      if (released.signal.aborted) return;
      try {
        await store.hold(lease);
      } catch (error) {
        const isLost = error instanceof SwarmError && error.code === "LEASE_LOST";
        if (isLost && !released.signal.aborted) lost.abort(error);
      }
    }
  })();
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    release: () => {
      released.abort();
      return beating;
    },
  };
}
