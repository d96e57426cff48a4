import assert from "node:assert/strict";
import { EventReader } from "./event_reader.ts";
import { followJob } from "./follow_job.ts";
import type { JobChannels, JobListener } from "./job_channels.ts";
import type { SupabaseLike } from "./supabase.ts";

Deno.test("text that was read late causes no further read", async () => {
  const listeners = new Set<JobListener>();
  const reads: PromiseWithResolvers<unknown>[] = [];
  const supabase = fakeClient(() => {
    reads.push(Promise.withResolvers());
    return reads.at(-1)?.promise;
  });
  const channels = {
    listen: (_: string, listener: JobListener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as JobChannels;
  const stop = new AbortController();
  const signals = followJob({ supabase, channels }, {
    jobId: "1",
    events: new EventReader(supabase, channels, { jobId: "1", after: null }),
    signal: stop.signal,
  });
  const nextText = async () => {
    for (;;) {
      const { value } = await signals.next();
      if (value?.kind === "text") return value.delta.text;
    }
  };
  const send = (offset: number, text: string) => {
    const data = { step_seq: 1, offset, text };
    const message = { event: "model.delta", payload: { task_id: "1", at: "", data } };
    for (const { onMessage } of listeners) onMessage(message);
  };
  const first = nextText();
  for (const { onJoined } of listeners) onJoined?.(true);
  send(0, "One ");
  send(4, "two ");
  assert.deepEqual([await first, await nextText()], ["One ", "two "]);

  reads[0]?.resolve({ step_seq: 1, text: "One " });
  assert.equal(await nextText(), "One ");
  send(8, "three");
  assert.equal(await nextText(), "three");

  assert.equal(reads.length, 1);
  stop.abort();
  await signals.return();
});

/** A client of a running job without events, whose text is read with the given function. */
function fakeClient(readAnswer: () => unknown): SupabaseLike {
  const answer = (data: unknown) => {
    const request = Promise.resolve(data).then((value) => ({ data: value, error: null }));
    const query: object = Object.assign(request, {
      select: () => query,
      eq: () => query,
      or: () => query,
      limit: () => query,
      abortSignal: () => query,
    });
    return query;
  };
  const client = {
    rpc: (name: string) => {
      if (name === "read_answer") return answer(readAnswer());
      return answer({ events: [], next_cursor: "", has_more: false });
    },
    from: () => answer([{ id: "1", finished_at: null }]),
  };
  return client as unknown as SupabaseLike;
}
