import { createSqlMessageStore } from "../../shared/engine/webhooks/message_store.ts";
import { createWebhookWorker } from "../../shared/engine/webhooks/webhook_worker.ts";
import type { GuardedFetch } from "../../shared/platform/net/guarded_fetch.ts";
import { crossPort } from "./cross_port.ts";
import type { WorkerFunction } from "./isolates.ts";
import { createSimulatedSql } from "./simulated_sql.ts";
import { time } from "./virtual_globals.ts";
import { waitFor } from "./wait_for.ts";
import type { DisturbedProcess, WorldPorts } from "./world_ports.ts";

/** As `shared/app/webhooks_app.ts` has them. */
const LEASE_SECONDS = 60;
const IDLE_SECONDS = 0.35;

const FAULTS = [
  "is overloaded",
  "is down",
  "is not reached",
  "gives no answer",
  "answers after the message was stored, and the answer is lost",
] as const;

/** The edge function that sends the messages of webhooks. */
export function createWebhookFunction(world: WorldPorts): WorkerFunction {
  return {
    name: "supaswarm-webhooks",
    isolateName: "sender",
    createWorker: ({ process, clock, lifetime, log }) =>
      createWebhookWorker({
        id: crypto.randomUUID(),
        ports: {
          store: createSqlMessageStore(createSimulatedSql(process, world), {
            leaseSeconds: LEASE_SECONDS,
            clock,
          }),
          fetch: (_, init) => receive(process, init, world),
          nowMs: Date.now,
          clock,
          log,
        },
        lifetime,
        leaseSeconds: LEASE_SECONDS,
        idleSeconds: IDLE_SECONDS,
      }),
  };
}

/** What a receiver does with a request. */
async function receive(
  process: DisturbedProcess,
  init: Parameters<GuardedFetch>[1],
  world: WorldPorts,
): Promise<Response> {
  const { disturbances, journal, scheduler, shares, trace } = world;
  if (!crossPort(process, "the receiver", world)) return await new Promise<never>(() => {});
  const { dice } = process;
  const fault = disturbances.pick(dice, shares().tool, "a receiver", FAULTS);
  const requestMs = dice.int(1, 300);
  const answerMs = dice.int(1, 300);
  const retryAfterSeconds = dice.int(1, 30);
  const signal = init?.signal ?? new AbortController().signal;
  const id = new Headers(init?.headers).get("webhook-id") ?? "";
  trace?.add("receiver", `gets ${id}${fault === null ? "" : ` and ${fault}`}`);
  await waitFor(requestMs, process, signal, scheduler);
  switch (fault) {
    case "is overloaded":
      return new Response(null, {
        status: 429,
        headers: { "retry-after": String(retryAfterSeconds) },
      });
    case "is down":
      return new Response(null, { status: 503 });
    case "is not reached":
      throw new TypeError("connection refused");
  }
  journal.received(id, time.ms);
  await waitFor(fault === "gives no answer" ? 60_000 : answerMs, process, signal, scheduler);
  if (fault !== null) throw new TypeError("connection reset");
  return new Response(null, { status: 204 });
}
