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

/** How often watching is renewed; it expires after a minute. */
const RENEW_WATCH_MS = 25_000;

/** Follows a job until it has ended. Its models stream meanwhile. @throws as EventReader.read() */
export async function* followJob(
  { supabase, channels }: { readonly supabase: SupabaseLike; readonly channels: JobChannels },
  { jobId, reader, signal }: {
    readonly jobId: string;
    readonly reader: EventReader;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<JobSignal, void, undefined> {
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const signals = new Queue<JobSignal>();
  const leave = channels.listen(jobId, {
    onMessage: (message) => {
      const delta = deltaOf(message, jobId);
      if (delta !== null) signals.push({ kind: "text", delta });
    },
  });
  const watch = () => {
    // Without streamed text, each answer comes whole.
    callRpc(supabase, "watch_task", { p_task_id: jobId }, { signal: stopped }).catch(() => {});
  };
  watch();
  const renewal = setInterval(watch, RENEW_WATCH_MS);
  const reading = (async () => {
    try {
      const caughtUp = () => signals.push({ kind: "caught_up" });
      for await (const event of reader.read(stopped, caughtUp)) {
        signals.push({ kind: "event", event });
      }
      signals.close();
    } catch (error) {
      signals.fail(error);
    }
  })();
  try {
    yield* signals.read();
  } finally {
    clearInterval(renewal);
    leave();
    stop.abort();
    await reading;
  }
}
