import assert from "node:assert/strict";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { addAgent } from "./operator.ts";
import { complete, scriptTurns } from "./script.ts";

const SLUG = "chat-ids";
/** The last 255 characters of it begin with half of one. */
const EMOJI = "😀".repeat(200);
const IDS = {
  "emoji": EMOJI,
  "halves of characters": "\ud83d".repeat(100),
  "zero-width spaces": "\u200b".repeat(100),
  "NUL": "\0",
  "a path": "../../../rest/v1/tasks",
  "right to left": "\u202eid",
  "a long text": "i".repeat(5_000),
};

Deno.test("the ids of a chat's requests may be any text, or are refused as such", async () => {
  await using platform = await sharedPlatform();
  const { sql, stack, project } = platform;
  await addAgent(sql, { slug: SLUG });
  stack.models.addAgent(scriptTurns(SLUG, complete("done")));
  const { headers } = await platform.addUser("chat-ids");
  const message = (id: string) => ({ id, role: "user", parts: [{ type: "text", text: "Hello" }] });
  const run = (id: string) => ({
    threadId: crypto.randomUUID(),
    runId: "r",
    state: {},
    tools: [],
    context: [],
    messages: [{ id, role: "user", content: "Hello" }],
  });
  const requests: Readonly<Record<string, (id: string) => readonly [string, JsonObject]>> = {
    "chat": (id) => ["", { id, messages: [message("m")] }],
    "message": (id) => ["", { id: crypto.randomUUID(), messages: [message(id)] }],
    "replaced message": (id) => [
      "",
      { id: crypto.randomUUID(), messageId: id, messages: [message("m")] },
    ],
    "thread": (id) => ["/ag-ui", { ...run("m"), threadId: id }],
    "run": (id) => ["/ag-ui", { ...run("m"), runId: id }],
    "message of a run": (id) => ["/ag-ui", run(id)],
    "interrupt": (id) => [
      "/ag-ui",
      { ...run("m"), resume: [{ interruptId: id, status: "resolved", payload: {} }] },
    ],
  };
  const failed: string[] = [];
  const statuses: Record<string, number> = {};
  for (const [place, requestOf] of Object.entries(requests)) {
    for (const [kind, id] of Object.entries(IDS)) {
      const [path, body] = requestOf(id);
      const response = await fetch(
        `${project.apiUrl}/functions/v1/supaswarm-chat/${SLUG}${path}`,
        {
          method: "POST",
          headers: { ...headers, "content-type": "application/json" },
          body: JSON.stringify(body),
        },
      );
      const text = await response.text();
      statuses[`${place}: ${kind}`] = response.status;
      const isError = response.status >= 500 || /INTERNAL|"RUN_ERROR"|"type":"error"/.test(text);
      if (isError) failed.push(`${place}, ${kind}: ${response.status} ${text.slice(0, 300)}`);
    }
  }
  assert.deepEqual(failed, []);
  assert.equal(statuses["message: emoji"], 200);
  const reserved = await fetch(`${project.apiUrl}/functions/v1/supaswarm-chat/${SLUG}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ id: "ag-ui", messages: [message("m")] }),
  });
  assert.equal(reserved.status, 400, await reserved.text());
});
