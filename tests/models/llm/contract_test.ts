import assert from "node:assert/strict";
import type { ModelMessage, ModelResponse } from "../../../shared/models/llm/model_port.ts";
import {
  type ScriptedAnswer,
  type ScriptedRequest,
  scriptModel,
} from "../../../scripts/models/scripted_agent.ts";
import { startModelServer } from "../../../scripts/models/model_server.ts";
import { ADD_TOOL, call, request } from "./tested_model.ts";
import { beginStream, endStream, respond, startRawServer } from "./raw_server.ts";
import { WIRE_FORMATS, type WireAnswer, type WireFormat } from "./wire_format.ts";

/** Runs `claim` against each adapter, complete and streamed. */
function forEachMode(
  name: string,
  claim: (format: WireFormat, isStreamed: boolean) => Promise<void>,
): void {
  for (const format of WIRE_FORMATS) {
    for (const isStreamed of [false, true]) {
      const mode = isStreamed ? "streamed" : "whole";
      Deno.test(`${format.api} (${mode}): ${name}`, () => claim(format, isStreamed));
    }
  }
}

/** Calls a scripted model on the model server. */
async function askScript(
  answer: (asked: ScriptedRequest) => ScriptedAnswer,
  ask: (origin: string) => Promise<ModelResponse>,
): Promise<ModelResponse> {
  const server = await startModelServer({ agents: [scriptModel("test-model", answer)] });
  try {
    return await ask(server.url);
  } finally {
    await server.stop();
  }
}

/** Calls a server that sends exactly this answer. */
async function askWire(
  format: WireFormat,
  isStreamed: boolean,
  answer: WireAnswer,
): Promise<ModelResponse> {
  const server = startRawServer(async (connection) => {
    if (!isStreamed) {
      return await respond(connection, { body: JSON.stringify(format.whole(answer)) });
    }
    await beginStream(connection, format.events(answer));
    await endStream(connection);
  });
  try {
    return await call(format, server.origin, request({ tools: [ADD_TOOL] }), listener(isStreamed));
  } finally {
    await server.stop();
  }
}

function listener(isStreamed: boolean, deltas: string[] = []) {
  return isStreamed ? { onDelta: (text: string) => void deltas.push(text) } : {};
}

forEachMode("answers with the reasoning before the text", async (format, isStreamed) => {
  const response = await askScript(
    () => ({ text: "Four.", reasoning: "Two and two." }),
    (origin) => call(format, origin, request(), listener(isStreamed)),
  );

  assert.equal(response.text, "Four.");
  assert.equal(response.reasoning, "Two and two.");
});

forEachMode(
  "answers text, and streams it in pieces that add up to it",
  async (format, isStreamed) => {
    const text = "Ünïcode 🐝, and a sentence that is longer than one chunk of the stream.";
    const deltas: string[] = [];

    const response = await askScript(
      () => ({ text }),
      (origin) => call(format, origin, request(), listener(isStreamed, deltas)),
    );

    assert.equal(response.text, text);
    assert.equal(response.finish_reason, "stop");
    assert.deepEqual(response.tool_calls, []);
    assert.equal(deltas.join(""), isStreamed ? text : "");
    assert.ok(!isStreamed || deltas.length > 1);
  },
);

forEachMode("sends system prompt, messages and tools", async (format, isStreamed) => {
  let asked: ScriptedRequest | undefined;

  await askScript((scripted) => {
    asked = scripted;
    return { text: "ok" };
  }, (origin) => call(format, origin, request({ tools: [ADD_TOOL] }), listener(isStreamed)));

  assert.equal(asked?.system, "Be brief.");
  assert.deepEqual(asked?.messages, [{ role: "user", text: "Hello" }]);
  assert.deepEqual(asked?.toolNames, ["add"]);
});

forEachMode(
  "returns several tool calls of one turn, one tool twice",
  async (format, isStreamed) => {
    const toolCalls = [
      { name: "add", arguments: { n: 1, note: 'quoted "text"' } },
      { name: "add", arguments: { n: 2 } },
      { name: "list", arguments: {} },
    ];

    const response = await askScript(
      () => ({ text: "Working", toolCalls }),
      (origin) => call(format, origin, request({ tools: [ADD_TOOL] }), listener(isStreamed)),
    );

    const ids = new Set(response.tool_calls.map(({ call_id }) => call_id));
    assert.equal(response.text, "Working");
    assert.equal(response.finish_reason, "tool_calls");
    assert.equal(ids.size, 3);
    assert.deepEqual(
      response.tool_calls.map(({ name, arguments: given }) => ({ name, arguments: given })),
      toolCalls,
    );
  },
);

forEachMode("returns each tool result to the call it belongs to", async (format, isStreamed) => {
  const numbers = [40, 2];
  const sum = ({ messages }: ScriptedRequest): ScriptedAnswer => {
    const results = messages.filter((message) => message.role === "tool");
    if (results.length === 0) {
      return { toolCalls: numbers.map((n) => ({ name: "add", arguments: { n } })) };
    }
    return { text: results.map(({ name, callId, text }) => `${name}:${callId}:${text}`).join(" ") };
  };

  const response = await askScript(sum, async (origin) => {
    const options = listener(isStreamed);
    const tools = [ADD_TOOL];
    const first = await call(format, origin, request({ tools }), options);
    const results = first.tool_calls.map(({ call_id, name, arguments: given }): ModelMessage => ({
      role: "tool",
      call_id,
      name,
      text: `result of ${given?.n}`,
      is_error: false,
    }));
    const messages: ModelMessage[] = [
      { role: "user", text: "Add them" },
      { role: "assistant", text: first.text, tool_calls: first.tool_calls },
      ...results,
      { role: "user", text: "Go on" },
    ];
    return call(format, origin, request({ tools, messages }), options);
  });

  assert.match(response.text, /^add:\S+:result of 40 add:\S+:result of 2$/);
});

forEachMode(
  "counts usage with the cached tokens as part of the input",
  async (format, isStreamed) => {
    const usage = { input: 1000, cached: 600, output: 50 };

    const response = await askWire(format, isStreamed, { text: "counted", usage });

    assert.deepEqual(response.usage, {
      input_tokens: 1000,
      cached_input_tokens: 600,
      ...(format.api === "anthropic" ? { cache_write_input_tokens: 200 } : {}),
      output_tokens: 50,
    });
  },
);

forEachMode(
  "distinguishes a truncated answer and a refusal from a complete one",
  async (format, isStreamed) => {
    const long = await askWire(format, isStreamed, { text: "And so", stop: "length" });
    const refused = await askWire(format, isStreamed, { text: "I will not", stop: "refused" });

    assert.deepEqual([long.text, long.finish_reason], ["And so", "length"]);
    assert.deepEqual([refused.text, refused.finish_reason], ["I will not", "refused"]);
  },
);

forEachMode("accepts an empty answer", async (format, isStreamed) => {
  const response = await askWire(format, isStreamed, {});

  assert.equal(response.text, "");
  assert.equal(response.finish_reason, "stop");
});

forEachMode("reads tool calls without arguments", async (format, isStreamed) => {
  const calls = [{ name: "list", argumentsText: "{}" }];

  const response = await askWire(format, isStreamed, { calls });

  assert.deepEqual(response.tool_calls.map((toolCall) => toolCall.arguments), [{}]);
});

for (const format of WIRE_FORMATS.filter(({ api }) => api !== "google")) {
  Deno.test(`${format.api}: keeps arguments that are not a JSON object, or that programs round, as malformed text`, async () => {
    const rounded = '{"n":9007199254740993}';
    const calls = ['{"n": 1', "[1]", "plain", rounded].map((argumentsText) => ({
      name: "add",
      argumentsText,
    }));

    const response = await askWire(format, true, { calls });

    assert.deepEqual(
      response.tool_calls.map(({ arguments: given, malformed }) => [given, malformed]),
      [[null, '{"n": 1'], [null, "[1]"], [null, "plain"], [null, rounded]],
    );
    assert.deepEqual(
      response.tool_calls.map(({ malformed_reason: reason }) =>
        /round.*as text/s.test(reason ?? "")
      ),
      [false, false, false, true],
    );
  });
}

for (const format of WIRE_FORMATS) {
  Deno.test(`${format.api}: says why long arguments cannot be used`, async () => {
    const text = "x".repeat(3_000);
    const calls = [`{"text":"${text}","to":["a\\u0000b"]}`].map((argumentsText) => ({
      name: "add",
      argumentsText,
    }));

    const { tool_calls: [given] } = await askWire(format, true, { calls });

    assert.equal(given?.arguments, null);
    assert.equal(given?.malformed?.length, 2_000);
    assert.match(given?.malformed_reason ?? "", /^to\.0 contains the character U\+0000/);
  });
}

forEachMode(
  "continues a conversation with empty and malformed turns",
  async (format, isStreamed) => {
    const toolCalls = [{
      call_id: "functions.add:0",
      name: "add",
      arguments: null,
      malformed: "{",
    }];
    const messages: ModelMessage[] = [
      { role: "user", text: "Start" },
      { role: "assistant", text: "", tool_calls: [] },
      { role: "user", text: "Go on" },
      { role: "assistant", text: "", tool_calls: toolCalls },
      { role: "tool", call_id: "functions.add:0", name: "add", text: "", is_error: true },
    ];

    const response = await askScript(
      ({ messages: asked }) => ({ text: asked.map(({ role }) => role).join(" ") }),
      (origin) => call(format, origin, request({ messages }), listener(isStreamed)),
    );

    assert.ok(response.text.endsWith("assistant tool"), response.text);
  },
);
