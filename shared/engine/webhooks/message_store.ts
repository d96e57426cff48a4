import { z } from "../../vendor/zod.js";
import type { Sql } from "../../platform/db/sql_client.ts";
import { createQueryRunner, type QueryRunnerOptions } from "../../platform/isolate/query_runner.ts";
import type { LeaseState, WorkLease } from "../work/work_kind.ts";
import type { DeliveryAttempt, OutgoingMessage } from "./send_message.ts";

/** A message that this worker has leased. */
export interface ClaimedMessage extends OutgoingMessage {
  readonly epoch: string;
}

/** A worker's operations on webhook messages. */
export interface MessageStore {
  /** @throws DATABASE_UNAVAILABLE */
  claim(workerId: string, limit: number): Promise<readonly ClaimedMessage[]>;
  /** @throws DATABASE_UNAVAILABLE */
  renew(leases: readonly WorkLease[]): Promise<readonly LeaseState[]>;
  /**
   * Records an attempt and its consequences.
   *
   * @returns the message's status: delivered, pending (will be retried) or failed.
   * @throws LEASE_LOST, DATABASE_UNAVAILABLE
   */
  record(message: ClaimedMessage, attempt: DeliveryAttempt): Promise<string>;
  /** Requests another worker. */
  wakeSuccessor(): Promise<void>;
}

const claimedRow = z.object({
  id: z.string(),
  epoch: z.string(),
  url: z.string(),
  payload: z.string(),
  secrets: z.array(z.string()),
});
const leaseRow = z.object({ id: z.string(), epoch: z.string(), is_held: z.boolean() });
const statusRow = z.object({ status: z.string() });

/** The store over the functions of schema `private`, each one call and one transaction. */
export function createSqlMessageStore(sql: Sql, options: QueryRunnerOptions): MessageStore {
  const { leaseSeconds } = options;
  const { once, withRetries } = createQueryRunner(options);
  return {
    async claim(workerId, limit) {
      const rows = await once("claim messages of webhooks", claimedRow, () =>
        sql`
        select id, epoch, url, payload, secrets
        from private.claim_webhook_messages(
          p_worker_id => ${workerId},
          p_limit => ${limit}::int,
          p_lease_seconds => ${leaseSeconds}::int
        )`);
      return rows.map(({ payload, ...row }) => ({ ...row, body: payload }));
    },

    async renew(leases) {
      const held = leases.map(({ id, epoch }) => ({ id, epoch }));
      const rows = await once("renew leases", leaseRow, () =>
        sql`
        select id, epoch, is_held
        from private.renew_webhook_messages(${sql.json(held)}, ${leaseSeconds}::int)`);
      return rows.map(({ id, epoch, is_held }) => ({
        id,
        epoch,
        state: is_held ? "held" : "lost",
      }));
    },

    async record({ id, epoch }, { durationMs, status, error, retryAfterSeconds }) {
      const [row] = await withRetries("record the attempt", statusRow, () =>
        sql`
        select private.record_webhook_attempt(
          p_message_id => ${id}::uuid,
          p_epoch => ${epoch}::bigint,
          p_duration_ms => ${durationMs}::int,
          p_status => ${status}::int,
          p_error => ${error === null ? null : sql.json({ ...error })}::jsonb,
          p_retry_after_seconds => ${retryAfterSeconds}::numeric
        ) as status`);
      return row?.status ?? "failed";
    },

    async wakeSuccessor() {
      await once("wake a successor", z.unknown(), () =>
        sql`
        select private.wake_function('supaswarm-webhooks')`);
    },
  };
}
