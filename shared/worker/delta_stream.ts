import type { Clock } from "./clock.ts";

/** At most one message each tenth of a second: people read no faster, and each is a query. */
const MIN_INTERVAL_MS = 100;
/** Below 32 KB in UTF-8, the most that a broadcast carries. */
const MAX_MESSAGE_CHARS = 8_000;

/** A model's text on its way to the channels. */
export interface DeltaStream {
  push(text: string): void;
  /** Sends what is left; resolves when all is sent. Never throws. */
  end(): Promise<void>;
}

/**
 * Gathers streamed text and sends it at most ten times a second, one message after the other.
 * A message that fails is dropped: the whole text comes with the step.
 */
export function createDeltaStream(
  send: (text: string) => Promise<void>,
  clock: Clock,
): DeltaStream {
  let pending = "";
  let sending: Promise<void> | null = null;
  const ended = new AbortController();

  return {
    push(text) {
      pending += text;
      sending ??= sendAll();
    },
    async end() {
      ended.abort();
      await sending;
    },
  };

  async function sendAll(): Promise<void> {
    while (pending !== "") {
      const text = beginningOf(pending);
      pending = pending.slice(text.length);
      await send(text).catch(() => {});
      await clock.sleep(MIN_INTERVAL_MS, ended.signal);
    }
    sending = null;
  }
}

function beginningOf(text: string): string {
  const beginning = text.slice(0, MAX_MESSAGE_CHARS);
  // Half an emoji waits for its other half.
  const isCut = beginning.length < text.length && !beginning.isWellFormed();
  return isCut ? beginning.slice(0, -1) : beginning;
}
