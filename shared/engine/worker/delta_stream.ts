import type { Clock } from "../../platform/isolate/clock.ts";
import type { DeltaPace } from "./delta_pace.ts";
import type { Delta } from "./task_store.ts";

/** Below 32 KB in UTF-8, the limit of a broadcast. */
const MAX_MESSAGE_CHARS = 8_000;
/** Pause after a failed message; doubles until one succeeds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 4_000;

/** Options of a model's text stream. */
export interface DeltaStreamOptions {
  /** Sends a part; false, or an error, if it was not sent. */
  readonly send: (delta: Delta) => Promise<boolean>;
  /** Whether the job is watched: unwatched text is kept and not sent. */
  readonly isWatched: () => boolean;
  /** The task's pace, shared by all its model calls. */
  readonly pace: DeltaPace;
  readonly clock: Clock;
}

/** The stream of a model's text to the channel of its job. */
export interface DeltaStream {
  push(text: string): void;
  /** Drops unsent text and starts a new text, whose first part has the offset 0. */
  restart(): void;
  /**
   * Sends the rest if the pace allows it; the complete answer follows with the step. Resolves when
   * nothing more will be sent. Never throws.
   */
  end(): Promise<void>;
}

/**
 * Collects streamed text and sends it at the pace of its task, one message after the other. Unsent
 * text is part of the next message, so that receivers see no gap.
 */
export function createDeltaStream(options: DeltaStreamOptions): DeltaStream {
  const { send, isWatched, pace, clock } = options;
  let pending = "";
  let offset = 0;
  /** Increases with each new text, so that a pending message does not count for the next. */
  let version = 0;
  let sending: Promise<void> | null = null;
  const ended = new AbortController();

  return {
    push(text) {
      pending += text;
      if (sending === null && isWatched()) sending = sendAll();
    },
    restart() {
      pending = "";
      offset = 0;
      version++;
    },
    async end() {
      ended.abort();
      await sending;
      const isWhole = beginningOf(pending) === pending;
      if (pending !== "" && isWhole && isWatched() && pace.isEndAllowed) await sendBeginning();
    },
  };

  async function sendAll(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    if (pace.waitMs > 0) await clock.sleep(pace.waitMs, ended.signal);
    while (pending !== "" && isWatched() && !ended.signal.aborted) {
      const isSent = await sendBeginning();
      await clock.sleep(isSent ? pace.waitMs : pauseMs, ended.signal);
      pauseMs = isSent ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
    sending = null;
  }

  async function sendBeginning(): Promise<boolean> {
    const text = beginningOf(pending);
    const sentVersion = version;
    const isSent = await send({ offset, text }).catch(() => false);
    if (isSent) pace.note();
    if (isSent && sentVersion === version) {
      pending = pending.slice(text.length);
      offset += text.length;
    }
    return isSent;
  }
}

function beginningOf(text: string): string {
  const beginning = text.slice(0, MAX_MESSAGE_CHARS);
  // A lone surrogate waits for its other half.
  const isCut = beginning.length < text.length && !beginning.isWellFormed();
  return isCut ? beginning.slice(0, -1) : beginning;
}
