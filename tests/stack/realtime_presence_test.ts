import { deepEqual, equal } from "node:assert/strict";
import type { RealtimeChannel, SupabaseClient } from "../deps.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { startRealtimeFixture } from "./realtime_fixture.ts";

/** Everyone may join the channel, but only members may be present. */
const POLICIES = `
  create policy "all receive" on realtime.messages for select to anon, authenticated using (true);
  create policy "members show themselves" on realtime.messages for insert to authenticated
    with check (extension = 'presence');`;

interface Present {
  readonly channel: RealtimeChannel;
  readonly joined: string[];
  readonly left: string[];
}

async function join(client: SupabaseClient, key: string, isPrivate: boolean): Promise<Present> {
  const [joined, left]: string[][] = [[], []];
  const channel = client.channel("lobby", { config: { private: isPrivate, presence: { key } } });
  channel.on("presence", { event: "join" }, (event) => joined?.push(event.key));
  channel.on("presence", { event: "leave" }, (event) => left?.push(event.key));
  let isJoined = false;
  channel.subscribe((status) => isJoined ||= status === "SUBSCRIBED");
  await waitFor(() => isJoined, { what: "the join" });
  return { channel, joined: joined ?? [], left: left ?? [] };
}

/** The presence state of a client, without the server's references. */
function shown({ channel }: Present): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(channel.presenceState()).map(([key, metas]) => [
      key,
      metas.map(({ presence_ref: _ref, ...payload }) => payload),
    ]),
  );
}

Deno.test("realtime tracks presence", async (t) => {
  await using stack = await startRealtimeFixture(POLICIES);
  const token = stack.token("00000000-0000-4000-8000-000000000001");
  const [first, second] = [
    await stack.client({ accessToken: () => token }),
    await stack.client({ accessToken: () => token, vsn: "1.0.0" }),
  ];

  for (const isPrivate of [false, true]) {
    const kind = isPrivate ? "private" : "public";

    await t.step(`clients of a ${kind} channel see each other join, change and leave`, async () => {
      const ada = await join(first, "ada", isPrivate);
      await ada.channel.track({ mood: "calm" });
      const bob = await join(second, "bob", isPrivate);
      await waitFor(() => shown(bob).ada !== undefined, { what: "the state at the join" });

      await bob.channel.track({ mood: "glad" });
      await waitFor(() => shown(ada).bob !== undefined);
      await ada.channel.track({ mood: "wild" });
      for (const client of [ada, bob]) {
        await waitFor(() => JSON.stringify(shown(client)).includes("wild"));
      }

      deepEqual(shown(ada), { ada: [{ mood: "wild" }], bob: [{ mood: "glad" }] });
      deepEqual(shown(bob), shown(ada));
      await bob.channel.untrack();
      await waitFor(() => ada.left.includes("bob"));
      deepEqual(Object.keys(shown(ada)), ["ada"]);
      await first.removeChannel(ada.channel);
      await waitFor(() => bob.left.includes("ada"));
      await second.removeChannel(bob.channel);
    });
  }

  await t.step("a broken connection removes its presence", async () => {
    const ada = await join(first, "ada", false);
    const bob = await join(second, "bob", false);
    await bob.channel.track({});
    await waitFor(() => ada.joined.includes("bob"));

    await second.realtime.disconnect();

    await waitFor(() => ada.left.includes("bob"));
    await first.removeChannel(ada.channel);
    await second.removeAllChannels();
  });

  await t.step("a client without presence rights on a private channel is not shown", async () => {
    const guest = await join(await stack.client(), "guest", true);
    const ada = await join(first, "ada", true);

    const answer = await guest.channel.track({ mood: "sly" });

    equal(answer, "error");
    deepEqual(shown(ada), {});
    await first.removeChannel(ada.channel);
  });
});
