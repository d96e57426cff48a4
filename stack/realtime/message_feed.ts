import { z } from "../../shared/vendor/zod.js";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";
import { listRecentMessages, readMessages, type StoredMessage } from "./stored_messages.ts";
import type { TopicHub } from "./topic_hub.ts";

/** Dependencies of {@linkcode MessageFeed}. */
export interface MessageFeedOptions {
  readonly sql: Sql;
  readonly hub: TopicHub;
  readonly log: Logger;
}

/** A message to send. `sentAtMs` is set when its notification was missed. */
interface PendingMessage {
  readonly id: string;
  readonly sentAtMs?: number;
}

/** The payload of a notification. The topic is null when it is too long for the payload. */
const announcement = z.string().transform(parseJson).pipe(z.object({
  id: z.guid(),
  private: z.boolean().nullable(),
  topic: z.string().nullable(),
}));

const BATCH = 200;
const RETRY_MS = 250;
/** How far back to look for missed messages. It is longer than any transaction may last. */
const CATCH_UP_SECONDS = 60;
/** Ids are remembered longer than that, so that no message is sent twice. */
const REMEMBER_MS = 3 * CATCH_UP_SECONDS * 1000;

/**
 * Sends messages that are committed to `realtime.messages` to their subscribers, each once, in the
 * order of the notifications, which is the order of the commits.
 */
export class MessageFeed {
  readonly #options: MessageFeedOptions;
  readonly #seenAtMs = new Map<string, number>();
  readonly #queue: PendingMessage[] = [];
  #reading: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: MessageFeedOptions) {
    this.#options = options;
  }

  /** Handles a notification. Does not read a message without subscribers. */
  announce(payload: string): void {
    const { hub, log } = this.#options;
    const parsed = announcement.safeParse(payload);
    // Any session can notify this channel, so ignore payloads that are not the trigger's.
    if (!parsed.success) return log("warn", "realtime.notification_unreadable");
    const { id, private: isPrivate, topic } = parsed.data;
    const isWanted = topic === null || hub.has({ topic, isPrivate: isPrivate ?? false });
    if (this.#isNew(id) && isWanted) this.#enqueue({ id });
  }

  /**
   * Finds messages whose notification was lost with a connection, and sends them to clients that
   * were subscribed at that time.
   *
   * @param graceMs How long to wait for notifications that are still in transit.
   */
  async catchUp(graceMs: number): Promise<void> {
    this.#forgetOld();
    const { hub, sql } = this.#options;
    if (hub.size === 0) return;
    const recent = await listRecentMessages(sql, CATCH_UP_SECONDS);
    const unseen = recent.filter(({ id }) => !this.#seenAtMs.has(id));
    if (unseen.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, graceMs));
    for (const { id, writtenAtMs } of unseen) {
      if (this.#isNew(id)) this.#enqueue({ id, sentAtMs: writtenAtMs });
    }
  }

  /** Stops sending. Resolves when the current read is done. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#reading;
  }

  #isNew(id: string): boolean {
    if (this.#seenAtMs.has(id)) return false;
    this.#seenAtMs.set(id, Date.now());
    return true;
  }

  #forgetOld(): void {
    const before = Date.now() - REMEMBER_MS;
    for (const [id, seenAtMs] of this.#seenAtMs) {
      // A map keeps the order of insertion, so all later entries are newer.
      if (seenAtMs > before) break;
      this.#seenAtMs.delete(id);
    }
  }

  #enqueue(message: PendingMessage): void {
    this.#queue.push(message);
    this.#reading ??= this.#readAll();
  }

  async #readAll(): Promise<void> {
    while (this.#queue.length > 0 && !this.#isStopped) {
      const batch = this.#queue.slice(0, BATCH);
      const messages = await this.#read(batch);
      if (messages === null) continue;
      this.#queue.splice(0, batch.length);
      for (const { id, sentAtMs } of batch) this.#send(messages.get(id), sentAtMs);
    }
    // Reset in the same turn as the last check of the queue, so that no message is missed.
    this.#reading = null;
  }

  /**
   * @returns `null` after a pause when the database is unreachable. The caller retries the batch.
   */
  async #read(batch: readonly PendingMessage[]): Promise<Map<string, StoredMessage> | null> {
    try {
      const messages = await readMessages(this.#options.sql, batch.map(({ id }) => id));
      return new Map(messages.map((message) => [message.id, message]));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#options.log("warn", "realtime.messages_unreadable", { message });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      return null;
    }
  }

  #send(message: StoredMessage | undefined, sentAtMs: number | undefined): void {
    if (message === undefined) return;
    const { id, event, payload } = message;
    const exclusion = definedOnly({ sentAtMs });
    this.#options.hub.broadcast(message, { event, payload, meta: { id } }, exclusion);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
