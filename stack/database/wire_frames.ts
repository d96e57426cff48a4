const NOTIFICATION_RESPONSE = "A".charCodeAt(0);
const READY_FOR_QUERY = "Z".charCodeAt(0);
const HEADER_BYTES = 5;

/** A committed NOTIFY. */
export interface Notification {
  readonly channel: string;
  readonly payload: string;
}

/** The transaction status of a session. `failed` is a transaction that can only be rolled back. */
export type TransactionStatus = "idle" | "transaction" | "failed";

/** Handlers of the frames that the splitter recognizes. */
export interface FrameHandlers {
  onNotification(notification: Notification): void;
  /** The server has answered everything up to here and waits for the next message. */
  onReady(status: TransactionStatus): void;
}

/**
 * Reads the server's side of the PostgreSQL protocol from chunks of any size. It removes
 * notifications from the stream and passes everything else on unchanged, without a copy.
 */
export class FrameSplitter {
  readonly #handlers: FrameHandlers;
  /** Type byte and length of the current frame. The first `#headerLength` bytes are filled in. */
  readonly #header = new Uint8Array(HEADER_BYTES);
  #headerLength = 0;
  #bodyMissing = 0;
  #body: Uint8Array[] = [];

  constructor(handlers: FrameHandlers) {
    this.#handlers = handlers;
  }

  /** Reads the next chunk and returns the parts of it that belong to the client, in order. */
  push(chunk: Uint8Array): Uint8Array[] {
    const forwarded: Uint8Array[] = [];
    let keptFrom = 0;
    let offset = 0;
    while (offset < chunk.length) {
      const start = offset;
      offset = this.#headerLength < HEADER_BYTES
        ? this.#readHeaderByte(chunk, offset)
        : this.#readBody(chunk, offset);
      if (this.#header[0] !== NOTIFICATION_RESPONSE) continue;
      if (start > keptFrom) forwarded.push(chunk.subarray(keptFrom, start));
      keptFrom = offset;
    }
    if (keptFrom < chunk.length) forwarded.push(chunk.subarray(keptFrom));
    return forwarded;
  }

  #readHeaderByte(chunk: Uint8Array, offset: number): number {
    this.#header[this.#headerLength++] = chunk[offset] ?? 0;
    if (this.#headerLength === HEADER_BYTES) {
      // The length includes its own four bytes.
      this.#bodyMissing = new DataView(this.#header.buffer).getInt32(1) - 4;
      if (this.#bodyMissing <= 0) this.#endFrame();
    }
    return offset + 1;
  }

  #readBody(chunk: Uint8Array, offset: number): number {
    const end = Math.min(offset + this.#bodyMissing, chunk.length);
    if (this.#isRead()) this.#body.push(chunk.slice(offset, end));
    this.#bodyMissing -= end - offset;
    if (this.#bodyMissing === 0) this.#endFrame();
    return end;
  }

  #isRead(): boolean {
    return this.#header[0] === NOTIFICATION_RESPONSE || this.#header[0] === READY_FOR_QUERY;
  }

  #endFrame(): void {
    if (this.#header[0] === NOTIFICATION_RESPONSE) {
      this.#handlers.onNotification(parseNotification(joinBytes(this.#body)));
    } else if (this.#header[0] === READY_FOR_QUERY) {
      this.#handlers.onReady(parseStatus(joinBytes(this.#body)));
    }
    this.#headerLength = 0;
    this.#body = [];
  }
}

/**
 * Parses the body of a NotificationResponse: process id, then channel and payload, each
 * zero-terminated.
 */
function parseNotification(body: Uint8Array): Notification {
  const [channel = "", payload = ""] = new TextDecoder().decode(body.subarray(4)).split("\0");
  return { channel, payload };
}

function parseStatus(body: Uint8Array): TransactionStatus {
  const letter = String.fromCharCode(body[0] ?? 0);
  return letter === "T" ? "transaction" : letter === "E" ? "failed" : "idle";
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
