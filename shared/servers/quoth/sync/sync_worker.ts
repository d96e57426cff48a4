import type { Worker } from "../../../engine/work/supervisor.ts";
import type { ClaimedWork, WorkControl, WorkKind } from "../../../engine/work/work_kind.ts";
import { WorkRunner, type WorkRunnerOptions } from "../../../engine/work/work_runner.ts";
import { createCpuBudget } from "./cpu_budget.ts";
import { runSync } from "./run_sync.ts";
import type { SyncPorts } from "./sync_ports.ts";
import type { ClaimedSync } from "./sync_store.ts";

interface ClaimedSyncWork extends ClaimedWork {
  readonly sync: ClaimedSync;
}

interface SyncWorkerOptions extends Pick<WorkRunnerOptions<ClaimedSyncWork>, "id" | "lifetime"> {
  readonly ports: SyncPorts;
  readonly leaseSeconds: number;
  readonly idleSeconds: number;
  /** CPU time after which a sync is released, so that other projects get their turn. */
  readonly turnCpuMs: number;
}

/** Creates a sync worker, which runs one sync after the other. */
export function createSyncWorker(options: SyncWorkerOptions): Worker {
  const { id, lifetime, ports: { clock, log }, leaseSeconds, idleSeconds } = options;
  return new WorkRunner({
    id,
    lifetime,
    kind: createSyncKind(options),
    settings: { slots: 1, leaseSeconds, heartbeatSeconds: leaseSeconds / 3, idleSeconds },
    clock,
    log,
  });
}

function createSyncKind({ ports, turnCpuMs }: SyncWorkerOptions): WorkKind<ClaimedSyncWork> {
  const { store, clock } = ports;
  return {
    noun: "sync",
    async claim(workerId) {
      const sync = await store.claim(workerId);
      return sync === null ? [] : [{ id: sync.syncId, epoch: sync.epoch, sync }];
    },
    renew: (_workerId, leases) => leases.length === 0 ? Promise.resolve([]) : store.renew(leases),
    run({ sync }, { signal, isDraining }: WorkControl) {
      const isOpen = () => !isDraining();
      const budget = createCpuBudget({ limitMs: turnCpuMs, clock, isOpen });
      return runSync(sync, ports, { budget, signal });
    },
    wakeSuccessor: () => store.wakeSuccessor(),
  };
}
