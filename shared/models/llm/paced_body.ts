import { isolateClock } from "../../platform/isolate/clock.ts";
import type { Bytes } from "../../platform/values/bytes.ts";

interface PacedBodyOptions {
  /** Waits for the server: times out after a long silence, and converts failures to errors. */
  readonly watch: <T>(waiting: Promise<T>) => Promise<T>;
  /** Called with the bytes received so far; may throw to end the answer. */
  readonly onReceived: (receivedBytes: number) => void;
  /** Milliseconds between two reads; 0 passes each chunk on immediately. */
  readonly pauseMs: number;
  /** Ends the body, and a pause of it. */
  readonly signal: AbortSignal;
}

/** Chunks of a stream are small; without our buffer each would get a new one of 64 KiB. */
const BUFFER_BYTES = 8_192;
const MAX_GATHERED_BYTES = 65_536;
/**
 * How long one read lasts: received chunks are delivered one by one, one per turn of the event
 * loop.
 */
const LOOK_MS = 15;
/** A stream whose last chunk is more recent than this at the end of a read has more to deliver. */
const GAP_MS = 2;

/**
 * Passes a body on in a few large chunks.
 *
 * Waiting for one chunk of a stream costs the isolate a tenth of a millisecond of CPU; a chunk that
 * is already there costs a third of that. So a stream is read every `pauseMs`, and everything
 * received in the meantime is passed on together. A body that arrives without gaps is read without
 * a pause.
 */
export function pacedBody(
  body: ReadableStream<Bytes>,
  { watch, onReceived, pauseMs, signal }: PacedBodyOptions,
): ReadableStream<Bytes> {
  const { read, cancel } = openReader(body);
  // Once a body has started, Deno may ignore the signal of its fetch() and would read forever.
  signal.addEventListener("abort", () => void cancel().catch(() => {}), { once: true });
  let pending: Promise<Piece> | null = null;
  let receivedBytes = 0;
  let nextLookAtMs = 0;

  return new ReadableStream<Bytes>({
    async pull(controller) {
      const leftMs = nextLookAtMs - performance.now();
      if (leftMs > 0) await isolateClock.sleep(leftMs, signal);
      const { pieces, isEnd } = await gather();
      if (pieces.length > 0) controller.enqueue(joined(pieces));
      if (isEnd) controller.close();
    },
    cancel,
  }, { highWaterMark: 0 });

  /** A read may fail while nothing awaits it; the next read reports the failure. */
  function startRead(): Promise<Piece> {
    const reading = read();
    reading.catch(() => {});
    return reading;
  }

  /** Waits for one chunk, and takes those that follow immediately. */
  async function gather(): Promise<{ readonly pieces: Bytes[]; readonly isEnd: boolean }> {
    const pieces: Bytes[] = [];
    const look = new AbortController();
    const ended = { isLookOver: true } as const;
    let over: Promise<typeof ended> | undefined;
    let pieceAtMs = 0;
    try {
      for (let bytes = 0; bytes < MAX_GATHERED_BYTES;) {
        pending ??= startRead();
        const next = over === undefined
          ? await watch(pending)
          : await Promise.race([pending, over]).catch(() => watch(pending ?? read()));
        if (next !== null && "isLookOver" in next) {
          const hasMore = performance.now() - pieceAtMs < GAP_MS;
          nextLookAtMs = hasMore ? 0 : performance.now() + pauseMs;
          break;
        }
        pending = null;
        if (next === null) return { pieces, isEnd: true };
        bytes += next.byteLength;
        receivedBytes += next.byteLength;
        onReceived(receivedBytes);
        pieces.push(next);
        if (pauseMs === 0) break;
        pieceAtMs = performance.now();
        over ??= isolateClock.sleep(LOOK_MS, look.signal).then(() => ended);
      }
      return { pieces, isEnd: false };
    } finally {
      look.abort();
    }
  }
}

/** Null at the end of the body. */
type Piece = Bytes | null;

interface BodyReader {
  readonly read: () => Promise<Piece>;
  readonly cancel: (reason?: unknown) => Promise<void>;
}

function openReader(body: ReadableStream<Bytes>): BodyReader {
  return openByteReader(body) ?? openPlainReader(body);
}

/** Undefined for a stream that is not read from a connection. */
function openByteReader(body: ReadableStream<Bytes>): BodyReader | undefined {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    return undefined;
  }
  let buffer = new ArrayBuffer(BUFFER_BYTES);
  return {
    async read() {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done || value === undefined) return null;
      buffer = value.buffer;
      return value.slice();
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

function openPlainReader(body: ReadableStream<Bytes>): BodyReader {
  const reader = body.getReader();
  return {
    async read() {
      const { done, value } = await reader.read();
      return done ? null : value;
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

function joined(pieces: readonly Bytes[]): Bytes {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(pieces.reduce((bytes, piece) => bytes + piece.byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}
