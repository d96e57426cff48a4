import assert from "node:assert/strict";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { createAnthropicAdapter } from "../../shared/models/llm/anthropic_adapter.ts";
import { createGoogleAdapter } from "../../shared/models/llm/google_adapter.ts";
import type { ModelApi } from "../../shared/models/llm/model_port.ts";
import { createOpenAiAdapter } from "../../shared/models/llm/openai_adapter.ts";
import { splitMarkdown } from "../../shared/servers/quoth/markdown/split_markdown.ts";
import { noAbort } from "../gateway/tools/tool_fixture.ts";
import { assertDoesNotBlock } from "./blocked_loop.ts";
import { HOSTILE_VALUES } from "./hostile_json.ts";

/** A refusal with one of our errors is as good as reading the answer. */
async function answered(generating: Promise<unknown>): Promise<void> {
  await generating.catch((error) => assert.ok(error instanceof SwarmError, String(error)));
}

Deno.test("no model response blocks the worker", async (t) => {
  const adapters = {
    openai: createOpenAiAdapter,
    anthropic: createAnthropicAdapter,
    google: createGoogleAdapter,
  };
  const wholeOf: Readonly<Record<ModelApi, (value: string) => string>> = {
    openai: (value) =>
      `{"choices":[{"message":{"content":"x","tool_calls":[{"id":"1","function":{"name":"t","arguments":${
        JSON.stringify(value)
      }}}]},"finish_reason":"stop"}]}`,
    anthropic: (value) =>
      `{"content":[{"type":"tool_use","id":"1","name":"t","input":{"x":${value}}}],"stop_reason":"end_turn","usage":{}}`,
    google: (value) =>
      `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":{"x":${value}}}}]},"finishReason":"STOP"}]}`,
  };
  const inputSchema: JsonObject = {
    type: "object",
    properties: {
      x: {
        anyOf: [{
          type: "array",
          items: { anyOf: [{ type: "string" }, { type: "object", properties: { a: {} } }] },
        }, { type: "string" }],
      },
      y: { type: "string" },
    },
  };
  for (const api of Object.keys(adapters) as ModelApi[]) {
    await t.step(api, async () => {
      const generate = (text: string, type: string, isStream: boolean) => {
        const adapter = adapters[api]({
          api,
          providerName: "hostile",
          baseUrl: "http://127.0.0.1:9",
          apiKey: "sk-test",
        }, {
          fetch: () => Promise.resolve(new Response(text, { headers: { "content-type": type } })),
        });
        const request = {
          model: "m",
          system: "",
          messages: [{ role: "user" as const, text: "x" }],
          tools: [{ name: "t", description: "t", inputSchema }],
        };
        return adapter.generate(
          request,
          { signal: noAbort(), ...(isStream ? { onDelta: () => {} } : {}) },
        );
      };
      // Modules that are imported on first use are imported now.
      await generate(wholeOf[api]('"x"'), "application/json", false);
      for (const [kind, value] of Object.entries(HOSTILE_VALUES)) {
        await assertDoesNotBlock(
          `${kind} of ${api}`,
          () => answered(generate(wholeOf[api](value), "application/json", false)),
        );
        await assertDoesNotBlock(
          `${kind} in a stream of ${api}`,
          () => answered(generate(`data: ${wholeOf[api](value)}\n\n`, "text/event-stream", true)),
        );
      }
      await assertDoesNotBlock(
        `small events of ${api}`,
        () => answered(generate("data: {}\n\n".repeat(200_000), "text/event-stream", true)),
      );
    });
  }
});

Deno.test("no document blocks the sync", async () => {
  const size = 1_000_000;
  const fill = (part: string) => part.repeat(Math.floor(size / part.length));
  const documents: Readonly<Record<string, string>> = {
    "one line": fill("a"),
    "quotes": fill("> "),
    "quotes in quotes": Array.from({ length: 400 }, (_, level) => `${"> ".repeat(level)}x`).join(
      "\n",
    ),
    "lists": fill("- "),
    "nested lists": Array.from({ length: 1_000 }, (_, level) => `${"  ".repeat(level)}- x`).join(
      "\n",
    ),
    "emphasis": fill("*a_ "),
    "links": fill("[a]("),
    "tables": `|a|\n|-|\n${fill("|b|\n")}`,
    "wide tables": `${fill("|a")}\n${fill("|-")}\n`,
    "headings": fill("## a\n"),
    "heading marks": fill("# "),
    "backticks": fill("`"),
    "fences": fill("```\n"),
    "html": fill("<a "),
    "front matter": `---\n${"a: &a [*a]\n".repeat(5_000)}---\n`,
    "empty lines": fill("\n"),
  };
  await splitMarkdown("# Warm\n\ntext\n", { filePath: "a.md", maxTokens: 480 });
  for (const [kind, text] of Object.entries(documents)) {
    await assertDoesNotBlock(kind, () => splitMarkdown(text, { filePath: "a.md", maxTokens: 480 }));
  }
});
