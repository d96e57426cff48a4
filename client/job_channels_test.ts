import assert from "node:assert/strict";
import { JobChannels } from "./job_channels.ts";
import type { SupabaseLike } from "./supabase.ts";
import { ChangeSignal } from "./waiting.ts";

const LISTENER = { onMessage: () => {} };

Deno.test("a job is joined again only when its earlier channel has been left", async () => {
  const left = Promise.withResolvers<void>();
  const { supabase, joined } = fakeClient({ removeChannel: () => left.promise });
  const channels = new JobChannels(supabase);
  const leave = channels.listen("1", LISTENER);
  await untilIdle();
  leave();
  channels.listen("1", LISTENER);
  await untilIdle();
  assert.deepEqual(joined, ["supaswarm:master:1"]);

  left.resolve();
  await untilIdle();
  assert.deepEqual(joined, ["supaswarm:master:1", "supaswarm:master:1"]);
});

Deno.test("a job is joined only when the socket of earlier ones has been closed", async () => {
  const closing = new ChangeSignal();
  const closed = Promise.withResolvers<void>();
  const { supabase, joined } = fakeClient({
    disconnect: () => {
      closing.notify();
      return closed.promise;
    },
  });
  const channels = new JobChannels(supabase);
  const leave = channels.listen("1", LISTENER);
  await untilIdle();
  leave();
  await closing.wait(60_000);
  channels.listen("2", LISTENER);
  await untilIdle();
  assert.deepEqual(joined, ["supaswarm:master:1"]);

  closed.resolve();
  await untilIdle();
  assert.deepEqual(joined, ["supaswarm:master:1", "supaswarm:master:2"]);
});

Deno.test("without a WebSocket, a listener is never joined", async () => {
  const { supabase } = fakeClient({
    subscribe: () => {
      throw new Error("WebSocket not available");
    },
  });
  const states: boolean[] = [];
  const leave = new JobChannels(supabase).listen("1", {
    ...LISTENER,
    onJoined: (isJoined) => states.push(isJoined),
  });
  await untilIdle();
  leave();
  await untilIdle();
  assert.deepEqual(states, []);
});

Deno.test("a channel that its server closed is joined again, also if the session cannot be read", async () => {
  const rejoined = Promise.withResolvers<void>();
  let joinCount = 0;
  const { supabase } = fakeClient({
    getSession: () => Promise.reject(new Error("The lock was not acquired")),
    subscribe: (onStatus) => {
      if (++joinCount === 2) rejoined.resolve();
      else onStatus("CLOSED");
    },
  });
  const leave = new JobChannels(supabase).listen("1", LISTENER);

  await rejoined.promise;
  leave();
  assert.equal(joinCount, 2);
});

/** A client that has the topics of its channels in their order. */
function fakeClient(
  {
    removeChannel = () => Promise.resolve(),
    disconnect = () => Promise.resolve(),
    getSession,
    subscribe,
  }: {
    readonly removeChannel?: () => Promise<void>;
    readonly disconnect?: () => Promise<void>;
    readonly getSession?: () => Promise<void>;
    readonly subscribe?: (onStatus: (status: string) => void) => void;
  },
): { readonly supabase: SupabaseLike; readonly joined: readonly string[] } {
  const joined: string[] = [];
  const channel: object = {
    on: () => channel,
    subscribe: (onStatus: (status: string) => void) => {
      subscribe?.(onStatus);
      return channel;
    },
  };
  const supabase = {
    channel: (topic: string) => {
      joined.push(topic);
      return channel;
    },
    getChannels: () => [],
    removeChannel,
    auth: { getSession },
    realtime: { disconnect },
  };
  return { supabase: supabase as unknown as SupabaseLike, joined };
}

/** Lets everything run that is due. */
async function untilIdle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
}
