import type { Logger } from "../log/logger.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { Bell } from "./bell.ts";
import type { Clock } from "../isolate/clock.ts";
import type { HeldTasks } from "./held_tasks.ts";
import { StopReason } from "./stop_reason.ts";
import type { TaskStore } from "./task_store.ts";

/** What beats, how often, and for whom. */
export interface HeartbeatOptions {
  readonly workerId: string;
  readonly tasks: HeldTasks;
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly heartbeatSeconds: number;
  readonly leaseSeconds: number;
}

/** Renews the leases of a worker on a timer of its own, so that no slow call holds it up. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #bell: Bell;
  #isStopped = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#bell = new Bell(options.clock);
  }

  /** Beats at once: somebody may have cancelled a job. */
  beatNow(): void {
    this.#bell.ring();
  }

  /** Ends {@linkcode run}. */
  stop(): void {
    this.#isStopped = true;
    this.#bell.ring();
  }

  /** Beats until it is stopped. Never throws. */
  async run(): Promise<void> {
    const { clock, heartbeatSeconds, leaseSeconds, tasks } = this.#options;
    let renewedAtMs = clock.nowMs();
    while (!this.#isStopped) {
      await this.#bell.wait(heartbeatSeconds * 1_000);
      if (this.#isStopped) return;
      const beganAtMs = clock.nowMs();
      if (await this.#beat()) renewedAtMs = beganAtMs;
      // Others may have these tasks by now; what we still do would be done twice.
      else if (clock.nowMs() - renewedAtMs > leaseSeconds * 1_000) {
        tasks.stopAll(new StopReason("lost"));
      }
    }
  }

  async #beat(): Promise<boolean> {
    const { workerId, tasks, store, log } = this.#options;
    try {
      tasks.heed(await store.heartbeat(workerId, tasks.leases));
      return true;
    } catch (error) {
      const code = error instanceof SwarmError ? error.code : "INTERNAL";
      log("warn", "worker.heartbeat_failed", { worker_id: workerId, code });
      return false;
    }
  }
}
