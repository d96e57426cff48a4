import { z } from "../../shared/vendor/zod.js";
import type { Sql } from "../../shared/db/sql_client.ts";
import { definedOnly } from "../../shared/defined_only.ts";
import type { Logger } from "../../shared/log/logger.ts";
import { listRecentMessages, readMessages, type StoredMessage } from "./stored_messages.ts";
import type { TopicHub } from "./topic_hub.ts";

/** What the feed reads from and sends to. */
export interface MessageFeedOptions {
  readonly sql: Sql;
  readonly hub: TopicHub;
  readonly log: Logger;
}

/** A message on its way; `sentAtMs` is set when its notification was missed. */
interface Announced {
  readonly id: string;
  readonly sentAtMs?: number;
}

/** What the trigger on `realtime.messages` says. The topic is null when it is too long to say. */
const announcement = z.string().transform(parseJson).pipe(z.object({
  id: z.guid(),
  private: z.boolean().nullable(),
  topic: z.string().nullable(),
}));

const BATCH = 200;
const RETRY_MS = 250;
/** How far a look at missed messages goes back: longer than any transaction may last. */
const CATCH_UP_SECONDS = 60;
/** Ids are remembered longer than that, so that nothing is sent twice. */
const REMEMBER_MS = 3 * CATCH_UP_SECONDS * 1000;

/**
 * Sends what is committed to `realtime.messages` to its subscribers: each message once, in the
 * order of the notifications, which is that of the commits.
 */
export class MessageFeed {
  readonly #options: MessageFeedOptions;
  readonly #seenAtMs = new Map<string, number>();
  readonly #queue: Announced[] = [];
  #reading: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: MessageFeedOptions) {
    this.#options = options;
  }

  /** Takes a notification. A message that nobody listens to is never read. */
  announce(payload: string): void {
    const { hub, log } = this.#options;
    const parsed = announcement.safeParse(payload);
    // Anybody may notify; what does not come from the trigger means nothing.
    if (!parsed.success) return log("warn", "realtime.notification_unreadable");
    const { id, private: isPrivate, topic } = parsed.data;
    const isWanted = topic === null || hub.has({ topic, isPrivate: isPrivate ?? false });
    if (this.#isNew(id) && isWanted) this.#enqueue({ id });
  }

  /**
   * Looks for messages whose notification was lost with a connection, and sends them to those who
   * listened at that time.
   *
   * @param graceMs How long notifications that are still on their way are waited for.
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

  /** Sends nothing more; resolves when the read in progress is done. */
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
      // A map keeps the order of insertion: the first young one ends the old ones.
      if (seenAtMs > before) break;
      this.#seenAtMs.delete(id);
    }
  }

  #enqueue(announced: Announced): void {
    this.#queue.push(announced);
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
    // In the same turn as the last look at the queue, so that no message falls between.
    this.#reading = null;
  }

  /** @returns `null` after a pause when the database is away; the batch is to be tried again. */
  async #read(batch: readonly Announced[]): Promise<Map<string, StoredMessage> | null> {
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
