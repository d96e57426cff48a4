import assert from "node:assert/strict";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { createModelAdapter } from "../../../shared/models/llm/create_model_adapter.ts";
import type { ModelMessage, ModelRequest } from "../../../shared/models/llm/model_port.ts";
import { ADD_TOOL, request, TEST_KEY } from "./tested_model.ts";
import { formatOf } from "./wire_format.ts";

/** The request that a provider receives. */
async function sent(
  api: "openai" | "anthropic",
  changes: Partial<ModelRequest>,
  baseUrl: string | null = null,
): Promise<JsonObject> {
  let body: JsonObject = {};
  const adapter = await createModelAdapter({
    api,
    providerName: api,
    baseUrl,
    apiKey: TEST_KEY,
  }, {
    fetch: (_, init) => {
      body = JSON.parse(String(init?.body));
      return Promise.resolve(Response.json(formatOf(api).whole({ text: "ok" })));
    },
  });
  await adapter.generate(request(changes), { signal: new AbortController().signal });
  return body;
}

const turn = (number: number): ModelMessage[] => [
  {
    role: "assistant",
    text: `Step ${number}`,
    tool_calls: [{ call_id: `c${number}`, name: "add", arguments: { n: number } }],
  },
  { role: "tool", call_id: `c${number}`, name: "add", text: `${number}`, is_error: false },
];
const conversation = (turns: number): ModelMessage[] => [
  { role: "user", text: "Count" },
  ...Array.from({ length: turns }, (_, index) => turn(index + 1)).flat(),
];

/** Indexes of the marked blocks: `system`, or the number of the message. */
function breakpoints({ system, messages }: Record<string, unknown>): unknown[] {
  const isMarked = (blocks: unknown) => JSON.stringify(blocks).includes("cache_control");
  return [
    ...(isMarked(system) ? ["system"] : []),
    ...(messages as unknown[]).flatMap((message, index) => isMarked(message) ? [index] : []),
  ];
}

Deno.test("anthropic: each request marks its own end and that of the previous request", async () => {
  for (const turns of [1, 2, 12]) {
    const before = await sent("anthropic", { messages: conversation(turns - 1) });
    const after = await sent("anthropic", { messages: conversation(turns), tools: [ADD_TOOL] });

    const [, ...ends] = breakpoints(after);
    assert.deepEqual(breakpoints(after)[0], "system");
    assert.deepEqual(ends, [2 * turns - 2, 2 * turns]);
    assert.ok(breakpoints(before).includes(ends[0]));
  }
});

Deno.test("anthropic: the text of a request is the same with and without marks", async () => {
  const messages = conversation(3);
  const withoutMarks = (body: JsonObject) =>
    JSON.stringify(body).replaceAll(',"cache_control":{"type":"ephemeral"}', "");

  const marked = await sent("anthropic", { messages, system: "" });
  const plain = await sent("anthropic", { messages, system: "", isUncached: true });

  assert.equal(withoutMarks(marked), JSON.stringify(plain));
});

Deno.test("openai: OpenAI keeps a task's requests together, compatible servers get no hint", async () => {
  const own = await sent("openai", { cacheKey: "task-1" });
  const other = await sent("openai", { cacheKey: "task-1" }, "http://127.0.0.1:9/v1");

  assert.deepEqual([own.prompt_cache_key, other.prompt_cache_key], ["task-1", undefined]);
});
