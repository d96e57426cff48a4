import assert from "node:assert/strict";
import { readHistory } from "./chat_history.ts";
import type { ChatPlatform } from "./chat_platform.ts";
import type { JobEvent } from "./job_event.ts";
import type { Json, JsonObject } from "./json.ts";

const JOB = "00000000-0000-4000-8000-000000000000";
const AT = "2026-01-01T00:00:00Z";

const event = (id: number, type: string, data: JsonObject) =>
  ({ id, task_id: JOB, type, at: AT, data }) as unknown as JobEvent;
const ended = (id: number) => event(id, "task.completed", { output: `answer ${id}` });
const resumed = (id: number, step: number) =>
  event(id, "task.resumed", { reason: "continued", step_seq: step });

/** A chat of two messages with these events, 500 on a page. */
function platformOf(events: readonly JobEvent[]): ChatPlatform & { readonly pages: string[] } {
  const pages: string[] = [];
  const call = (name: string, args: JsonObject): Json => {
    if (name === "find_chat") {
      const messages = [{ step: 0, input: "first" }, { step: 5, input: "second" }];
      const cursor = String((events.find(({ type }) => type === "task.resumed")?.id ?? 0) - 1);
      return { task_id: JOB, messages, messages_cursor: null, cursor } as unknown as Json;
    }
    const after = Number(args.p_cursor ?? 0);
    pages.push(String(after));
    const following = events.filter(({ id }) => Number(id) > after);
    const page = following.slice(0, 500);
    const next_cursor = String(page.at(-1)?.id ?? after);
    return {
      events: page,
      next_cursor,
      has_more: page.length < following.length,
    } as unknown as Json;
  };
  const platform = {
    call: (name: string, args: JsonObject) => Promise.resolve(call(name, args)),
    pages,
  };
  return platform as unknown as ReturnType<typeof platformOf>;
}

const noise = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => event(from + at, "task.started", {}));
const shown = async (platform: ChatPlatform) => {
  const { messages, hasEarlier } = await readHistory(platform, "chat", {});
  const names = messages.map(({ role, metadata }) => `${role} ${metadata.step}`);
  return hasEarlier ? ["earlier", ...names] : names;
};

Deno.test("the history of a chat has every message and answer", async () => {
  const platform = platformOf([
    event(1, "task.created", {}),
    ended(2),
    resumed(3, 5),
    ended(4),
  ]);

  assert.deepEqual(await shown(platform), ["user 0", "assistant 0", "user 5", "assistant 5"]);
  assert.equal(platform.pages.length, 1);
});

Deno.test("a chat with too many events has its newest message", async () => {
  const platform = platformOf([
    event(1, "task.created", {}),
    ...noise(2, 12_000),
    ended(12_002),
    resumed(12_003, 5),
    ended(12_004),
  ]);

  assert.deepEqual(await shown(platform), ["earlier", "user 5", "assistant 5"]);
  assert.equal(platform.pages.length, 21);
});

Deno.test("an answer with too many events is shown up to there", async () => {
  const platform = platformOf([
    event(1, "task.created", {}),
    ended(2),
    resumed(3, 5),
    ...noise(4, 12_000),
    ended(12_004),
  ]);

  assert.deepEqual(await shown(platform), ["earlier", "user 5", "assistant 5"]);
  assert.equal(platform.pages.length, 40);
});
