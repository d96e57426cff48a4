import { isolateClock } from "../../platform/isolate/clock.ts";
import type { Bytes } from "../../platform/values/bytes.ts";

interface PacedBodyOptions {
  /** Waits for the server: times out after a long silence, and converts failures to errors. */
  readonly watch: <T>(waiting: Promise<T>) => Promise<T>;
  /** Called with the bytes received so far; may throw to end the answer. */
  readonly onReceived: (receivedBytes: number) => void;
  /** Milliseconds after which to read again; 0 passes each chunk on immediately. */
  readonly pauseMs: () => number;
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
 * is already there costs a third of that. So a stream is read every `pauseMs()`, and everything
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
    const pauseAfterMs = pauseMs();
    pending ??= startRead();
    const isEnd = take(await watch(pending), pieces) === "end" ||
      pauseAfterMs > 0 && await takeFollowing(pieces, pauseAfterMs) === "end";
    return { pieces, isEnd };
  }

  function take(piece: Piece, pieces: Bytes[]): "piece" | "end" {
    pending = null;
    if (piece === null) return "end";
    receivedBytes += piece.byteLength;
    onReceived(receivedBytes);
    pieces.push(piece);
    return "piece";
  }

  /**
   * Takes chunks until the read is over. Callbacks, because to wait for each chunk or the end of the
   * read with `Promise.race()` costs a fifth more CPU.
   */
  function takeFollowing(pieces: Bytes[], pauseAfterMs: number): Promise<"over" | "end"> {
    const { promise, resolve, reject } = Promise.withResolvers<"over" | "end">();
    const firstBytes = receivedBytes;
    let isOver = false;
    let takenAtMs = performance.now();
    const timer = setTimeout(() => {
      isOver = true;
      const hasMore = performance.now() - takenAtMs < GAP_MS;
      nextLookAtMs = hasMore ? 0 : performance.now() + pauseAfterMs;
      resolve("over");
    }, LOOK_MS);
    const takeNext = () => {
      pending ??= startRead();
      pending.then((piece) => {
        if (isOver) return;
        takenAtMs = performance.now();
        if (take(piece, pieces) === "end") return resolve("end");
        if (receivedBytes - firstBytes >= MAX_GATHERED_BYTES) return resolve("over");
        takeNext();
        // The next read reports a failure.
      }).catch((error) => pending === null ? reject(error) : resolve("over"));
    };
    takeNext();
    return promise.finally(() => {
      isOver = true;
      clearTimeout(timer);
    });
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
