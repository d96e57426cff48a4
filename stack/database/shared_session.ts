import type { Pglite } from "../deps.ts";
import { FrameSplitter, type Notification, type TransactionStatus } from "./wire_frames.ts";

const TERMINATE = "X".charCodeAt(0);
const PARSE = "P".charCodeAt(0);
const SYNC = "S".charCodeAt(0);
const QUERY = "Q".charCodeAt(0);

/** Receives the server's answer in pieces. */
interface RawStreamOptions {
  readonly onRawData: (data: Uint8Array) => void;
}

/** Handlers of the session's activity. */
export interface SessionHandlers {
  onNotification(notification: Notification): void;
  /** A message has been answered; the session is not stuck. */
  onProgress(): void;
  /** PGlite itself failed, not a statement. The process must end. */
  onBroken(error: unknown): void;
}

/**
 * Makes PGlite's single session safe to share through `PGLiteSocketServer`.
 *
 * The socket server calls `isInTransaction()` to decide whose message may run next. PGlite returns
 * false between the messages of one extended query (parse, flush, then bind and execute). Another
 * client's parse would then replace the unnamed statement, and results would go to the wrong query.
 * This class returns true from a client's first message until the server is ready for the next
 * query. It also removes notifications from the answers, and rolls back what a disconnected client
 * left open.
 */
export class SharedSession {
  readonly #pglite: Pglite;
  readonly #handlers: SessionHandlers;
  readonly #frames: FrameSplitter;
  #status: TransactionStatus = "idle";
  #isAnswering = false;

  constructor(pglite: Pglite, handlers: SessionHandlers) {
    this.#pglite = pglite;
    this.#handlers = handlers;
    this.#frames = new FrameSplitter({
      onNotification: (notification) => handlers.onNotification(notification),
      onReady: (status) => {
        this.#status = status;
        this.#isAnswering = false;
      },
    });
  }

  /** Resolves when PGlite has started. */
  get waitReady(): Promise<void> {
    return this.#pglite.waitReady;
  }

  /** Whether only the client that sent the last message may send the next one. */
  isInTransaction(): boolean {
    return this.#isAnswering || this.#status !== "idle";
  }

  runExclusive<T>(action: () => Promise<T>): Promise<T> {
    return this.#pglite.runExclusive(action);
  }

  /** Runs one message of a client and streams the answer without notifications. */
  async execProtocolRawStream(message: Uint8Array, options: RawStreamOptions): Promise<void> {
    // A client's terminate message ends only its socket, not the shared session.
    if (message[0] === TERMINATE) return;
    this.#isAnswering = true;
    try {
      await this.#pglite.execProtocolRawStream(message, {
        onRawData: (data) => {
          for (const part of this.#frames.push(data)) options.onRawData(part);
        },
      });
    } catch (error) {
      this.#handlers.onBroken(error);
      throw error;
    }
    this.#handlers.onProgress();
  }

  /**
   * Ends what a client left open. The socket server calls it when a client disconnects. A faulty
   * statement aborts an extended query that was executed but not yet synced, because a sync alone
   * would commit it. The rollback then ends an open transaction.
   */
  async exec(_rollback: string): Promise<void> {
    const discarded = { onRawData: () => {} };
    await this.execProtocolRawStream(
      wireMessage(PARSE, "\0abandoned by its client\0\0\0"),
      discarded,
    );
    await this.execProtocolRawStream(wireMessage(SYNC, ""), discarded);
    await this.execProtocolRawStream(wireMessage(QUERY, "rollback\0"), discarded);
  }
}

function wireMessage(type: number, text: string): Uint8Array {
  const body = new TextEncoder().encode(text);
  const message = new Uint8Array(5 + body.length);
  message[0] = type;
  new DataView(message.buffer).setInt32(1, 4 + body.length);
  message.set(body, 5);
  return message;
}
