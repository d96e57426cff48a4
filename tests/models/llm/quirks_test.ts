import assert from "node:assert/strict";
import { definedOnly } from "../../../shared/platform/values/defined_only.ts";
import type { ModelMessage, ModelResponse } from "../../../shared/models/llm/model_port.ts";
import { createGuardedFetch } from "../../../shared/platform/net/guarded_fetch.ts";
import { ADD_TOOL, call, request } from "./tested_model.ts";
import { beginStream, endStream, respond, startRawServer } from "./raw_server.ts";
import { formatOf, WIRE_FORMATS } from "./wire_format.ts";

/** Plays these bodies, one per request; an array of strings is a stream's events. */
function playback(answers: readonly (readonly string[] | object)[]) {
  return startRawServer(async (connection, number) => {
    const answer = answers[number - 1] ?? {};
    if (!Array.isArray(answer)) return await respond(connection, { body: JSON.stringify(answer) });
    await beginStream(connection, answer);
    await endStream(connection);
  });
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function event(type: string, fields: Record<string, unknown>): string {
  return `event: ${type}\n${data({ type, ...fields })}`;
}

/** The turn in the next request, with a result for each call. */
function asHistory({ text, tool_calls, provider_data }: ModelResponse): ModelMessage[] {
  const kept = definedOnly({ provider_data });
  return [
    { role: "user", text: "Add" },
    { role: "assistant", text, tool_calls, ...kept },
    ...tool_calls.map(({ call_id, name }): ModelMessage => ({
      role: "tool",
      call_id,
      name,
      text: "done",
      is_error: false,
    })),
  ];
}

Deno.test("openai: impossible counts of tokens become possible ones", async () => {
  const format = formatOf("openai");
  const usages = [
    { prompt_tokens: -5, completion_tokens: 1.5 },
    { prompt_tokens: 1e300, completion_tokens: 0 },
    // Some servers do not count cached tokens as input.
    { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 500 } },
  ];
  const server = playback(
    usages.map((usage) => ({
      choices: [{ message: { content: "Four" }, finish_reason: "stop" }],
      usage,
    })),
  );
  try {
    const counted = [];
    for (const _ of usages) counted.push((await call(format, server.origin)).usage);

    assert.deepEqual(counted, [
      { input_tokens: 0, cached_input_tokens: 0, output_tokens: 2 },
      { input_tokens: 1_000_000_000, cached_input_tokens: 0, output_tokens: 0 },
      { input_tokens: 500, cached_input_tokens: 500, output_tokens: 1 },
    ]);
  } finally {
    await server.stop();
  }
});

Deno.test("anthropic: thinking is returned unchanged and in its place", async () => {
  const format = formatOf("anthropic");
  const server = playback([
    [
      event("message_start", { message: { usage: { input_tokens: 1, output_tokens: 1 } } }),
      event("content_block_start", {
        index: 0,
        content_block: { type: "thinking", thinking: "", signature: "" },
      }),
      ...["I ", "add"].map((thinking) =>
        event("content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking } })
      ),
      event("content_block_delta", {
        index: 0,
        delta: { type: "signature_delta", signature: "c2ln" },
      }),
      event("content_block_start", { index: 1, content_block: { type: "text", text: "" } }),
      event("content_block_delta", { index: 1, delta: { type: "text_delta", text: "Adding" } }),
      event("content_block_start", {
        index: 2,
        content_block: { type: "tool_use", id: "toolu_1", name: "add", input: {} },
      }),
      event("content_block_delta", {
        index: 2,
        delta: { type: "input_json_delta", partial_json: '{"n":1}' },
      }),
      event("a_kind_of_tomorrow", { anything: 1 }),
      event("message_delta", { delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } }),
      event("message_stop", {}),
    ],
    format.whole({ text: "ok" }) as object,
  ]);

  const first = await call(format, server.origin, request({ tools: [ADD_TOOL] }), {
    onDelta: () => {},
  });
  await call(format, server.origin, request({ messages: asHistory(first) }));
  await server.stop();

  assert.equal(first.text, "Adding");
  const sent = JSON.parse(server.requests[1]?.body ?? "");
  assert.deepEqual(sent.messages[1], {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "I add", signature: "c2ln" },
      { type: "text", text: "Adding" },
      { type: "tool_use", id: "toolu_1", name: "add", input: { n: 1 } },
    ],
  });
});

Deno.test("google: signed parts are returned unchanged, with ids only if the API sent them", async () => {
  const format = formatOf("google");
  const parts = [
    { text: "I think", thought: true },
    { text: "Adding" },
    { functionCall: { name: "add", args: { n: 1 }, id: "fc-1" }, thoughtSignature: "c2ln" },
    { functionCall: { name: "add", args: { n: 2 } } },
  ];
  const server = playback([
    { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] },
    format.whole({ text: "ok" }) as object,
  ]);

  const first = await call(format, server.origin, request({ tools: [ADD_TOOL] }));
  await call(format, server.origin, request({ messages: asHistory(first) }));
  await server.stop();

  assert.equal(first.text, "Adding");
  const sent = JSON.parse(server.requests[1]?.body ?? "");
  const response = { output: "done" };
  assert.deepEqual(sent.contents[1].parts, parts);
  assert.deepEqual(sent.contents[2].parts, [
    { functionResponse: { name: "add", response, id: "fc-1" } },
    { functionResponse: { name: "add", response } },
  ]);
});

Deno.test("google: an answer of another provider continues without foreign ids", async () => {
  const format = formatOf("google");
  const server = playback([format.whole({ text: "ok" }) as object]);
  const toolCalls = [{ call_id: "toolu_1", name: "add", arguments: { n: 1 } }];
  const messages = asHistory({
    text: "",
    tool_calls: toolCalls,
    finish_reason: "tool_calls",
    usage: { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0 },
    provider_data: { api: "anthropic", content: [{ type: "thinking" }] },
  });

  await call(format, server.origin, request({ messages }));
  await server.stop();

  assert.ok(!server.requests[0]?.body.includes("toolu_1"));
  assert.ok(!server.requests[0]?.body.includes("thinking"));
});

for (const reason of ["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE"]) {
  Deno.test(`google: ${reason} is an invalid output`, async () => {
    const server = playback([{ candidates: [{ finishReason: reason }] }]);

    const error = await call(formatOf("google"), server.origin).catch((thrown) => thrown);
    await server.stop();

    assert.equal(error.code, "MODEL_OUTPUT_INVALID");
    assert.match(error.message, new RegExp(reason));
  });
}

Deno.test("google: a blocked prompt is a refusal", async () => {
  const server = playback([{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }]);

  const response = await call(formatOf("google"), server.origin);
  await server.stop();

  assert.equal(response.finish_reason, "refused");
});

Deno.test("openai: complete calls that all have index 0, or none, stay separate", async () => {
  const piece = (id: string, index?: number) => ({
    id,
    index,
    function: { name: "add", arguments: `{"id":"${id}"}` },
  });
  const server = playback([[
    data({ choices: [{ delta: { tool_calls: [piece("a", 0)] } }] }),
    data({ choices: [{ delta: { tool_calls: [piece("b", 0)] } }] }),
    data({ choices: [{ delta: { tool_calls: [piece("c"), piece("d")] } }] }),
    data({ choices: [{ delta: {}, finish_reason: "stop" }] }),
  ]]);

  const response = await call(formatOf("openai"), server.origin, request(), { onDelta: () => {} });
  await server.stop();

  assert.deepEqual(response.tool_calls.map(({ call_id }) => call_id), ["a", "b", "c", "d"]);
  assert.equal(response.finish_reason, "tool_calls");
});

Deno.test("openai: calls without ids, or with a duplicate id, get distinct ids", async () => {
  const toolCalls = ["", "x", "x"].map((id) => ({
    id,
    type: "function",
    function: { name: "add", arguments: "" },
  }));
  const server = playback([{
    choices: [{ message: { content: null, tool_calls: toolCalls }, finish_reason: "tool_calls" }],
  }]);

  const response = await call(formatOf("openai"), server.origin);
  await server.stop();

  const ids = response.tool_calls.map(({ call_id }) => call_id);
  assert.equal(new Set(ids).size, 3);
  assert.ok(ids.every((id) => id !== ""));
  assert.deepEqual(response.tool_calls.map((toolCall) => toolCall.arguments), [{}, {}, {}]);
});

Deno.test("openai: an answer with an empty reason is complete, whole and streamed", async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  const toolCall = {
    index: 0,
    id: "a",
    type: "function",
    function: { name: "add", arguments: "" },
  };
  const server = playback([
    { choices: [{ message: { content: "Four" }, finish_reason: "" }], usage },
    [
      data({ choices: [{ delta: { content: "Fo" } }] }),
      data({ choices: [{ delta: { content: "ur", tool_calls: [toolCall] }, finish_reason: "" }] }),
      data({ choices: [], usage }),
      "data: [DONE]\n\n",
    ],
    [data({ choices: [{ delta: { content: "Fo" }, finish_reason: "" }] })],
  ]);
  const format = formatOf("openai");

  const whole = await call(format, server.origin);
  const streamed = await call(format, server.origin, request(), { onDelta: () => {} });
  await assert.rejects(
    call(format, server.origin, request(), { onDelta: () => {} }),
    { code: "MODEL_UNAVAILABLE" },
    "a stream that ends before its usage is cut off",
  );
  await server.stop();

  assert.deepEqual([whole.text, whole.finish_reason], ["Four", "stop"]);
  assert.deepEqual([streamed.text, streamed.finish_reason], ["Four", "tool_calls"]);
  assert.equal(streamed.usage.output_tokens, 2);
});

Deno.test("openai: an error object in a 200 answer is an error", async () => {
  const server = playback([{ error: { code: 429, message: "Rate limited upstream" } }]);

  const error = await call(formatOf("openai"), server.origin).catch((thrown) => thrown);
  await server.stop();

  assert.equal(error.code, "MODEL_RATE_LIMITED");
});

for (const format of WIRE_FORMATS) {
  Deno.test(`${format.api}: a server that does not stream although it was asked to is read`, async () => {
    const server = playback([format.whole({ text: "Four" }) as object]);
    const deltas: string[] = [];

    const response = await call(format, server.origin, request(), {
      onDelta: (text) => void deltas.push(text),
    });
    await server.stop();

    assert.deepEqual([response.text, response.finish_reason], ["Four", "stop"]);
    assert.deepEqual(deltas, ["Four"]);
    assert.equal(server.requests.length, 1);
  });

  Deno.test(`${format.api}: a server that streams without being asked to is read`, async () => {
    const server = playback([format.events({ text: "Hello there" })]);

    const response = await call(format, server.origin);
    await server.stop();

    assert.equal(response.text, "Hello there");
    assert.equal(server.requests.length, 1);
  });

  Deno.test(`${format.api}: a stream with the media type of JSON is read as a stream`, async () => {
    const events = format.events({ text: "Hello there" }).join("");
    const server = startRawServer((connection) => respond(connection, { body: `\n${events}` }));

    const response = await call(format, server.origin, request(), { onDelta: () => {} });
    await server.stop();

    assert.equal(response.text, "Hello there");
  });
}

for (const format of WIRE_FORMATS) {
  Deno.test(`${format.api}: half of a character, which servers refuse, is replaced`, async () => {
    const server = playback([format.whole({ text: "Four" }) as object]);
    const text = 'cut \ud83d, whole 🐝, written \\ud83d and "\\\ud83d"';

    await call(format, server.origin, request({ messages: [{ role: "user", text }] }));
    await server.stop();

    const [{ body } = { body: "" }] = server.requests;
    assert.ok(body.includes(JSON.stringify(text.toWellFormed())), body);
    JSON.parse(body, (_, value) => {
      assert.ok(typeof value !== "string" || value.isWellFormed());
      return value;
    });
  });
}

for (const api of ["openai", "anthropic"] as const) {
  Deno.test(`${api}: an error object instead of the requested stream is an error`, async () => {
    const error = { type: "rate_limit_error", message: "Rate limited upstream" };
    const server = playback([{ type: "error", error }, { type: "error", error }]);

    for (const options of [{}, { onDelta: () => {} }]) {
      await assert.rejects(call(formatOf(api), server.origin, request(), options), {
        code: "MODEL_RATE_LIMITED",
        message: /Rate limited upstream/,
      });
    }
    await server.stop();
  });
}

Deno.test("openai: compatible servers get max_tokens, and no parameters that they may not know", async () => {
  const format = formatOf("openai");
  const server = playback([format.whole({ text: "ok" }) as object]);

  await call(format, server.origin, request({ maxOutputTokens: 10, temperature: 0 }));
  await server.stop();

  assert.deepEqual(JSON.parse(server.requests[0]?.body ?? ""), {
    model: "test-model",
    messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
    temperature: 0,
    max_tokens: 10,
    stream: false,
  });
});

for (const format of WIRE_FORMATS) {
  Deno.test(`${format.api}: a base URL on a private address is refused before anything is sent`, async () => {
    const server = playback([]);
    const fetch = createGuardedFetch({ allowLoopback: false });

    const error = await call(format, server.origin, request(), { fetch }).catch((thrown) => thrown);
    await server.stop();

    assert.equal(error.code, "TOOL_ADDRESS_FORBIDDEN");
    assert.equal(server.requests.length, 0);
  });

  Deno.test(`${format.api}: streams through the guarded fetch`, async () => {
    const server = playback([format.events({ text: "Hello there" })]);
    const fetch = createGuardedFetch({ allowLoopback: true });
    const deltas: string[] = [];

    const response = await call(format, server.origin, request(), {
      fetch,
      onDelta: (text) => void deltas.push(text),
    });
    await server.stop();

    assert.equal(response.text, "Hello there");
    assert.equal(deltas.length, 2);
  });
}
