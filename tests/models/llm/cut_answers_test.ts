import assert from "node:assert/strict";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import type { ModelResponse } from "../../../shared/models/llm/model_port.ts";
import { beginStream, endStream, respond, startRawServer } from "./raw_server.ts";
import { ADD_TOOL, call, request } from "./tested_model.ts";
import { formatOf, WIRE_FORMATS, type WireFormat } from "./wire_format.ts";

/** The answer of an adapter to this body, or to these events. */
async function answerTo(
  format: WireFormat,
  answer: JsonObject | readonly string[],
  isResponses = false,
): Promise<ModelResponse> {
  const server = startRawServer(async (connection) => {
    if (!Array.isArray(answer)) return await respond(connection, { body: JSON.stringify(answer) });
    await beginStream(connection, answer);
    await endStream(connection);
  });
  const asked = request({ tools: [ADD_TOOL], ...isResponses ? { needsResponses: true } : {} });
  try {
    return await call(format, server.origin, asked, Array.isArray(answer) ? { onDelta() {} } : {});
  } finally {
    await server.stop();
  }
}

const CUT = {
  text: "Now:",
  calls: [
    { name: "add", argumentsText: '{"n":1}' },
    { name: "add", argumentsText: "{}" },
  ],
  stop: "length",
} as const;

for (const format of WIRE_FORMATS) {
  for (const isStreamed of [false, true]) {
    Deno.test(`${format.api} (${isStreamed ? "streamed" : "whole"}): a cut turn with calls says that it was cut`, async () => {
      const body = isStreamed ? format.events(CUT) : format.whole(CUT) as JsonObject;

      const { text, tool_calls, finish_reason } = await answerTo(format, body);

      assert.equal(finish_reason, "length");
      assert.equal(text, "Now:");
      assert.deepEqual(tool_calls.map((made) => made.arguments), [{ n: 1 }, {}]);
    });
  }
}

for (const format of WIRE_FORMATS) {
  Deno.test(`${format.api}: a turn that the provider refuses has no calls`, async () => {
    const body = format.whole({ ...CUT, stop: "refused" }) as JsonObject;

    const { tool_calls, finish_reason } = await answerTo(format, body);

    assert.deepEqual([finish_reason, tool_calls], ["refused", []]);
  });
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

Deno.test("openai: an answer that fills the window, as Mistral reports it, was cut", async () => {
  const format = formatOf("openai");
  for (const reason of ["model_length", "MAX_TOKENS", "max_tokens"]) {
    const choices = [{ index: 0, finish_reason: reason, message: { content: "And so" } }];
    const { finish_reason } = await answerTo(format, { choices });
    assert.equal(finish_reason, "length", reason);
  }
});

Deno.test("openai: a streamed call whose arguments are cut is malformed, and a nameless one is none", async () => {
  const chunk = (delta: JsonObject, finish_reason: string | null = null) =>
    data({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });
  const begun = { index: 0, id: "a", function: { name: "add", arguments: "" } };

  const { tool_calls, finish_reason } = await answerTo(formatOf("openai"), [
    chunk({ tool_calls: [begun] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"n":' } }] }),
    chunk({ tool_calls: [{ index: 1, id: "b", function: {} }] }),
    chunk({}, "length"),
    "data: [DONE]\n\n",
  ]);

  assert.equal(finish_reason, "length");
  assert.deepEqual(tool_calls, [
    { call_id: "a", name: "add", arguments: null, malformed: '{"n":' },
  ]);
});

const REASONING = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "ZW5j" };
const INCOMPLETE = {
  status: "incomplete",
  incomplete_details: { reason: "max_output_tokens" },
  usage: { input_tokens: 10, output_tokens: 64 },
};

Deno.test("openai: the Responses API reports a cut call, and what the next request may repeat", async () => {
  const called = { type: "function_call", call_id: "a", name: "add", status: "incomplete" };
  const output = [
    REASONING,
    { ...called, arguments: '{"n":' },
    { ...REASONING, id: "rs_2", status: "incomplete" },
  ];
  const body = { ...INCOMPLETE, output };
  const events = [
    data({ type: "response.output_item.done", output_index: 0, item: REASONING }),
    data({
      type: "response.output_item.added",
      output_index: 1,
      item: { ...called, arguments: "" },
    }),
    data({ type: "response.function_call_arguments.delta", output_index: 1, delta: '{"n":' }),
    data({ type: "response.incomplete", response: body }),
  ];

  for (const answer of [body, events]) {
    const { finish_reason, tool_calls, provider_data } = await answerTo(
      formatOf("openai"),
      answer,
      true,
    );
    assert.equal(finish_reason, "length");
    assert.deepEqual(tool_calls, [
      { call_id: "a", name: "add", arguments: null, malformed: '{"n":' },
    ]);
    assert.deepEqual(provider_data, {
      api: "openai_responses",
      items: [REASONING, { ...called, arguments: "{}" }],
    });
  }
});

Deno.test("reasoning that was cut is kept for people, and not for the next request", async () => {
  const thinking = { type: "thinking", thinking: "Hm, let me", signature: "" };
  const usage = { input_tokens: 10, output_tokens: 64 };
  const answers: readonly [WireFormat, JsonObject, boolean][] = [
    [formatOf("anthropic"), { content: [thinking], stop_reason: "max_tokens", usage }, false],
    [formatOf("openai"), { ...INCOMPLETE, output: [REASONING] }, true],
    [formatOf("openai"), {
      choices: [{
        index: 0,
        finish_reason: "length",
        message: { content: null, reasoning_content: "Hm, let me" },
      }],
    }, false],
    [formatOf("google"), {
      candidates: [{
        finishReason: "MAX_TOKENS",
        content: { role: "model", parts: [{ text: "Hm, let me", thought: true }] },
      }],
    }, false],
  ];
  for (const [format, body, isResponses] of answers) {
    const { text, finish_reason, provider_data } = await answerTo(format, body, isResponses);
    assert.deepEqual([text, finish_reason, provider_data], ["", "length", undefined], format.api);
  }
});

Deno.test("tools of the provider that were cut before they ran are neither reported nor repeated", async () => {
  const text = { type: "text", text: "Let me look." };
  const thinking = { type: "thinking", thinking: "Hm", signature: "s" };
  const search = { type: "server_tool_use", id: "s1", name: "web_search", input: {} };
  const usage = { input_tokens: 10, output_tokens: 64 };
  const content = [thinking, text, search, { ...thinking, signature: "" }];
  const program = { executableCode: { code: "print(1" }, thoughtSignature: "s" };
  const parts = [{ text: "Let me see." }, program];

  const anthropic = await answerTo(formatOf("anthropic"), {
    content,
    stop_reason: "max_tokens",
    usage,
  });
  const google = await answerTo(formatOf("google"), {
    candidates: [{ finishReason: "MAX_TOKENS", content: { role: "model", parts } }],
  });

  assert.deepEqual(anthropic.provider_data, { api: "anthropic", content: [thinking, text] });
  assert.equal(anthropic.provider_tool_calls, undefined);
  assert.equal(google.provider_data, undefined);
  assert.equal(google.provider_tool_calls, undefined);
  assert.equal(google.text, "Let me see.");
});
