import type { Clock } from "./clock.ts";

/** At most one message each tenth of a second: people read no faster, and each is a query. */
const MIN_INTERVAL_MS = 100;

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
      const text = pending;
      pending = "";
      await send(text).catch(() => {});
      await clock.sleep(MIN_INTERVAL_MS, ended.signal);
    }
    sending = null;
  }
}
