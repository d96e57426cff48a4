import { deepEqual, equal } from "node:assert/strict";
import { PresenceState } from "./presence_state.ts";

function makeState() {
  let count = 0;
  return new PresenceState<{ name: string }>(() => `r${++count}`);
}

Deno.test("track() adds a member under its key", () => {
  const state = makeState();

  const diff = state.track({ name: "a" }, "ada", { mood: "calm" });

  const metas = [{ mood: "calm", phx_ref: "r1" }];
  deepEqual(diff, { joins: { ada: { metas } }, leaves: {} });
  deepEqual(state.list(), { ada: { metas } });
});

Deno.test("track() replaces the member's payload when repeated, and returns the old one", () => {
  const state = makeState();
  const member = { name: "a" };
  state.track(member, "ada", { mood: "calm" });

  const diff = state.track(member, "ada", { mood: "glad" });

  deepEqual(diff, {
    joins: { ada: { metas: [{ mood: "glad", phx_ref: "r2", phx_ref_prev: "r1" }] } },
    leaves: { ada: { metas: [{ mood: "calm", phx_ref: "r1" }] } },
  });
});

Deno.test("track() with the same payload changes nothing", () => {
  const state = makeState();
  const member = { name: "a" };
  state.track(member, "ada", { mood: "calm" });

  equal(state.track(member, "ada", { mood: "calm" }), null);
});

Deno.test("members can share a key, and leave it one by one", () => {
  const state = makeState();
  const [phone, laptop] = [{ name: "phone" }, { name: "laptop" }];
  state.track(phone, "ada", { on: "phone" });
  state.track(laptop, "ada", { on: "laptop" });

  const diff = state.untrack(phone);

  deepEqual(diff?.leaves, { ada: { metas: [{ on: "phone", phx_ref: "r1" }] } });
  deepEqual(state.list(), { ada: { metas: [{ on: "laptop", phx_ref: "r2" }] } });
  equal(state.untrack(phone), null);
});
