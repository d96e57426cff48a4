import { EventReader } from "./event_reader.ts";
import type { JobChannels } from "./job_channels.ts";
import type { JobEvent } from "./job_event.ts";
import { deltaOf, type TextDelta } from "./job_text.ts";
import { Queue } from "./queue.ts";
import { callRpc, type SupabaseLike } from "./supabase.ts";

/** What happens in a job, with the text that its own models write. */
export type JobSignal =
  | { readonly kind: "event"; readonly event: JobEvent }
  | { readonly kind: "text"; readonly delta: TextDelta }
  /** Every event that was visible has been returned. */
  | { readonly kind: "caught_up" };

/** A signal of {@linkcode followJob}: an event has the cursor of everything up to it. */
export type FollowedSignal =
  | Exclude<JobSignal, { readonly kind: "event" }>
  | { readonly kind: "event"; readonly event: JobEvent; readonly cursor: string };

/** How often watching is renewed; it expires after a minute. */
const RENEW_WATCH_MS = 25_000;

/** Follows a job until it has ended. Its models stream meanwhile. @throws as EventReader.read() */
export async function* followJob(
  { supabase, channels }: { readonly supabase: SupabaseLike; readonly channels: JobChannels },
  { jobId, events, isTextWanted = true, signal }: {
    readonly jobId: string;
    readonly events: EventReader;
    /** False: only events, and its models do not stream for this reader. */
    readonly isTextWanted?: boolean;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<FollowedSignal, void, undefined> {
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const signals = new Queue<FollowedSignal>();
  const ignore = isTextWanted
    ? streamText(
      { supabase, channels },
      { jobId, signal: stopped },
      (delta) => signals.push({ kind: "text", delta }),
    )
    : () => {};
  const reading = (async () => {
    try {
      const caughtUp = () => signals.push({ kind: "caught_up" });
      for await (const event of events.read(stopped, caughtUp)) {
        signals.push({ kind: "event", event, cursor: events.cursor });
      }
      signals.close();
    } catch (error) {
      signals.fail(error);
    }
  })();
  try {
    yield* signals.read();
  } finally {
    ignore();
    stop.abort();
    await reading;
  }
}

/** Has the job's text streamed, until the returned function is called. */
function streamText(
  { supabase, channels }: Parameters<typeof followJob>[0],
  { jobId, signal }: { readonly jobId: string; readonly signal: AbortSignal },
  onDelta: (delta: TextDelta) => void,
): () => void {
  const reader = new TextReader(supabase, { jobId, signal });
  const onText = (delta: TextDelta) => {
    reader.note(delta);
    onDelta(delta);
  };
  const leave = channels.listen(jobId, {
    onMessage: (message) => {
      const delta = deltaOf(message, jobId);
      if (delta === null) return;
      if (reader.misses(delta)) void reader.read(onText);
      onText(delta);
    },
    onJoined: (isJoined) => {
      if (isJoined) void reader.read(onText);
    },
  });
  const watch = () => {
    // Without streamed text, each answer comes whole.
    callRpc(supabase, "watch_task", { p_task_id: jobId }, { signal }).catch(() => {});
  };
  watch();
  const renewal = setInterval(watch, RENEW_WATCH_MS);
  return () => {
    clearInterval(renewal);
    leave();
  };
}

/** Reads the text that was streamed before the channel was joined, or that was lost. */
class TextReader {
  readonly #supabase: SupabaseLike;
  readonly #jobId: string;
  readonly #signal: AbortSignal;
  #isReading = false;
  #known = { step: 0, length: 0 };

  constructor(
    supabase: SupabaseLike,
    { jobId, signal }: { readonly jobId: string; readonly signal: AbortSignal },
  ) {
    this.#supabase = supabase;
    this.#jobId = jobId;
    this.#signal = signal;
  }

  misses({ step, offset }: TextDelta): boolean {
    return offset > (step === this.#known.step ? this.#known.length : 0);
  }

  note({ step, offset, text, isRead }: TextDelta): void {
    const length = offset + text.length;
    const known = this.#known;
    const isOld = step < known.step || (step === known.step && length < known.length);
    if (isRead !== true || !isOld) this.#known = { step, length };
  }

  async read(onText: (delta: TextDelta) => void): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const answer = await callRpc<{ step_seq: number; text: string } | null>(
        this.#supabase,
        "read_answer",
        { p_task_id: this.#jobId },
        { signal: this.#signal },
      );
      if (answer === null) return;
      onText({ step: answer.step_seq, offset: 0, text: answer.text, isRead: true });
    } catch {
      // The end of the answer has all of it.
    } finally {
      this.#isReading = false;
    }
  }
}
