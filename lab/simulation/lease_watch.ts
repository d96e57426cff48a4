import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { Lease, TaskStore } from "../../shared/engine/worker/task_store.ts";
import type { Process } from "./scheduler.ts";
import type { WorldPorts } from "./world_ports.ts";

/** A store that remembers which leases its process has lost. */
export interface LeaseWatch {
  readonly store: TaskStore;
  /** Reports a call that the process makes for a task after it heard that the lease is lost. */
  readonly assertHeld: (taskId: string, port: string) => void;
}

/** Watches what a process hears of its leases. */
export function watchLeases(store: TaskStore, process: Process, world: WorldPorts): LeaseWatch {
  /** The last lease of each task that the process has claimed. */
  const claimed = new Map<string, string>();
  const lost = new Set<string>();
  const noteLost = ({ taskId, epoch }: Lease) => {
    // It may have claimed the task again since.
    if (claimed.get(taskId) === epoch) lost.add(taskId);
  };
  const watched = { ...store };
  const names = Object.keys(store) as (keyof TaskStore)[];
  for (const name of names) {
    const call = store[name] as (...args: unknown[]) => Promise<unknown>;
    watched[name] = (async (...args: unknown[]) => {
      try {
        const answer = await call(...args);
        for (const row of leasesIn(answer)) {
          if (row.state === "lost") noteLost(row);
          if (row.state !== undefined) continue;
          claimed.set(row.taskId, row.epoch);
          lost.delete(row.taskId);
        }
        return answer;
      } catch (error) {
        const [lease] = args as [Partial<Lease> | undefined];
        const isLost = error instanceof SwarmError && error.code === "LEASE_LOST";
        if (isLost && lease?.taskId !== undefined) noteLost(lease as Lease);
        throw error;
      }
    }) as never;
  }
  return {
    store: watched,
    assertHeld(taskId, port) {
      if (!lost.has(taskId)) return;
      world.report("no call after a lost lease", `${process.name} calls ${port} for ${taskId}`);
    },
  };
}

/** The leases that an answer is about: claimed ones have no state. */
function leasesIn(answer: unknown): (Lease & { readonly state?: string })[] {
  if (!Array.isArray(answer)) return [];
  return answer.filter((row) => typeof row?.taskId === "string");
}
