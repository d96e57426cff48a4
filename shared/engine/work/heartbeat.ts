import type { Logger } from "../../platform/log/logger.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { Clock } from "../../platform/isolate/clock.ts";
import type { HeldWork } from "./held_work.ts";
import { StopReason } from "./stop_reason.ts";
import { WakeSignal } from "./wake_signal.ts";
import type { WorkKind } from "./work_kind.ts";

/** Options of a heartbeat. */
export interface HeartbeatOptions {
  readonly workerId: string;
  readonly held: HeldWork;
  readonly kind: Pick<WorkKind, "renew">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly heartbeatSeconds: number;
  readonly leaseSeconds: number;
}

/** Renews the leases of a worker on its own timer, so that slow calls do not delay it. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #signal: WakeSignal;
  #isStopped = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#signal = new WakeSignal(options.clock);
  }

  /** Sends a heartbeat immediately: work may have been cancelled. */
  beatNow(): void {
    this.#signal.send();
  }

  /** Stops {@linkcode run}. */
  stop(): void {
    this.#isStopped = true;
    this.#signal.send();
  }

  /** Sends heartbeats until it is stopped. Never throws. */
  async run(): Promise<void> {
    const { clock, heartbeatSeconds, leaseSeconds, held } = this.#options;
    let renewedAtMs = clock.nowMs();
    while (!this.#isStopped) {
      await this.#signal.wait(heartbeatSeconds * 1_000);
      if (this.#isStopped) return;
      const beganAtMs = clock.nowMs();
      if (await this.#beat()) renewedAtMs = beganAtMs;
      // Another worker may have this work by now; continuing would do it twice.
      else if (clock.nowMs() - renewedAtMs > leaseSeconds * 1_000) {
        held.stopAll(new StopReason("lost"));
      }
    }
  }

  async #beat(): Promise<boolean> {
    const { workerId, held, kind, log } = this.#options;
    try {
      held.apply(await kind.renew(workerId, held.leases));
      return true;
    } catch (error) {
      const code = error instanceof SwarmError ? error.code : "INTERNAL";
      log("warn", "worker.heartbeat_failed", { worker_id: workerId, code });
      return false;
    }
  }
}
