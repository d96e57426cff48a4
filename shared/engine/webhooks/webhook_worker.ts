import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { Clock } from "../../platform/isolate/clock.ts";
import type { Worker } from "../work/supervisor.ts";
import type { WorkKind } from "../work/work_kind.ts";
import { WorkRunner, type WorkRunnerOptions } from "../work/work_runner.ts";
import type { ClaimedMessage, MessageStore } from "./message_store.ts";
import { sendMessage, type SendPorts } from "./send_message.ts";

/** The dependencies of the worker. */
export interface WebhookPorts extends SendPorts {
  readonly store: MessageStore;
  readonly clock: Clock;
  readonly log: Logger;
}

interface WebhookWorkerOptions extends Pick<WorkRunnerOptions<ClaimedMessage>, "id" | "lifetime"> {
  readonly ports: WebhookPorts;
  readonly leaseSeconds: number;
  readonly idleSeconds: number;
}

/** Requests that wait for their receivers cost almost nothing. */
const SLOTS = 16;

/** Creates a worker that sends webhook messages in parallel. */
export function createWebhookWorker(options: WebhookWorkerOptions): Worker {
  const { id, lifetime, ports, leaseSeconds, idleSeconds } = options;
  return new WorkRunner({
    id,
    lifetime,
    kind: createWebhookKind(ports),
    settings: { slots: SLOTS, leaseSeconds, heartbeatSeconds: leaseSeconds / 3, idleSeconds },
    clock: ports.clock,
    log: ports.log,
  });
}

function createWebhookKind(ports: WebhookPorts): WorkKind<ClaimedMessage> {
  const { store, log } = ports;
  return {
    noun: "webhook_message",
    claim: (workerId, { limit }) => store.claim(workerId, limit),
    renew: (_workerId, leases) => leases.length === 0 ? Promise.resolve([]) : store.renew(leases),
    async run(message, { signal }) {
      try {
        const attempt = await sendMessage(message, ports, signal);
        return await store.record(message, attempt);
      } catch (error) {
        // The lease expires, and the message is sent again: receivers recognize it by its id.
        if (signal.aborted) return "released";
        const { code } = toSwarmError(error, "send the message");
        log("warn", "webhook_message.not_recorded", { webhook_message_id: message.id, code });
        return "not_recorded";
      }
    },
    wakeSuccessor: () => store.wakeSuccessor(),
  };
}
