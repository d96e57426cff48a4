import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { createModelCaller } from "../../../shared/models/llm/call_model.ts";
import { createModelAdapter } from "../../../shared/models/llm/create_model_adapter.ts";
import type {
  ModelApi,
  ModelMessage,
  ModelRequest,
  ModelResponse,
} from "../../../shared/models/llm/model_port.ts";
import { beginStream, endStream, respond, startRawServer } from "./raw_server.ts";
import { ADD_TOOL, call, request, TEST_KEY } from "./tested_model.ts";
import { formatOf, WIRE_FORMATS } from "./wire_format.ts";

/** An answer that reasons and calls `add`, in its provider's format. */
interface RecordedReasoning {
  readonly name: string;
  readonly api: ModelApi;
  readonly changes?: Partial<ModelRequest>;
  readonly whole: JsonObject;
  readonly events: readonly string[];
  /** The part of the reasoning that people may read. */
  readonly reasoning: string;
  /** The answer's form in the next request: its message, content or items. */
  replayed(body: JsonObject): unknown;
  readonly replay: unknown;
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, fields: JsonObject) => `event: ${type}\n${data({ type, ...fields })}`;
const USAGE = { prompt_tokens: 9, completion_tokens: 5 };

const chat = (name: string, message: JsonObject, pieces: JsonObject[], replay: JsonObject) => {
  const tool_calls = [{
    id: "call_1",
    type: "function",
    function: { name: "add", arguments: '{"n":1}' },
  }];
  return {
    name,
    api: "openai" as const,
    whole: {
      choices: [{
        index: 0,
        finish_reason: "tool_calls",
        message: { role: "assistant", content: null, tool_calls, ...message },
      }],
      usage: USAGE,
    },
    events: [
      ...pieces.map((delta) => data({ choices: [{ index: 0, delta }] })),
      data({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...tool_calls[0] }] } }] }),
      data({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }),
      data({ choices: [], usage: USAGE }),
      "data: [DONE]\n\n",
    ],
    reasoning: "I add",
    replayed: (body: JsonObject) => {
      const { role: _role, content: _content, tool_calls: _calls, ...kept } =
        (body.messages as JsonObject[])[2] ?? {};
      return kept;
    },
    replay,
  };
};

const SIGNED = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };
const ENCRYPTED = { type: "reasoning.encrypted", id: "rs_1", index: 1, data: "gAAAA" };
const THINKING = { type: "thinking", thinking: "I add", signature: "c2ln" };
const REDACTED = { type: "redacted_thinking", data: "ZW5j" };
const TOOL_USE = { type: "tool_use", id: "toolu_1", name: "add", input: { n: 1 } };
const PARTS = [
  { text: "I add", thought: true },
  { functionCall: { name: "add", args: { n: 1 } }, thoughtSignature: "c2ln" },
];
const REASONING_ITEM = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "I add" }],
  encrypted_content: "gAAAA",
};
const CALL_ITEM = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "add",
  arguments: '{"n":1}',
};

const RECORDED: readonly RecordedReasoning[] = [
  chat(
    "openai: reasoning_content",
    { reasoning_content: "I add" },
    [{ reasoning_content: "I " }, { reasoning_content: "add" }],
    { reasoning_content: "I add" },
  ),
  chat("openai: reasoning", { reasoning: "I add" }, [{ reasoning: "I " }, { reasoning: "add" }], {
    reasoning: "I add",
  }),
  chat(
    "openai: reasoning_details",
    {
      reasoning: "I add",
      reasoning_details: [{ ...SIGNED, text: "I add", signature: "c2ln" }, ENCRYPTED],
    },
    [
      { reasoning: "I ", reasoning_details: [{ ...SIGNED, text: "I " }] },
      { reasoning: "add", reasoning_details: [{ ...SIGNED, text: "add" }] },
      { reasoning_details: [{ ...SIGNED, text: null, signature: "c2ln" }] },
      { reasoning_details: [ENCRYPTED] },
    ],
    { reasoning_details: [{ ...SIGNED, text: "I add", signature: "c2ln" }, ENCRYPTED] },
  ),
  {
    ...chat(
      "openai: thinking parts (Mistral)",
      {
        content: [{ type: "thinking", thinking: [{ type: "text", text: "I add" }], closed: true }],
      },
      [
        { role: "assistant", content: "" },
        { content: [{ type: "thinking", thinking: [{ type: "text", text: "I " }] }] },
        {
          content: [{ type: "thinking", thinking: [{ type: "text", text: "add" }], closed: true }],
        },
      ],
      {},
    ),
    replayed: ({ messages }) => (messages as JsonObject[])[2]?.content,
    replay: [{ type: "thinking", thinking: [{ type: "text", text: "I add" }], closed: true }],
  },
  {
    name: "openai: items of the Responses API",
    api: "openai",
    // Compatible servers use the Responses API for their own tools.
    changes: { providerTools: ["web_search"], reasoningEffort: "low" },
    whole: {
      status: "completed",
      output: [REASONING_ITEM, CALL_ITEM],
      usage: { input_tokens: 9, output_tokens: 5 },
    },
    events: [
      event("response.created", { response: { status: "in_progress" } }),
      event("response.output_item.done", { output_index: 0, item: REASONING_ITEM }),
      event("response.output_item.added", {
        output_index: 1,
        item: { ...CALL_ITEM, arguments: "" },
      }),
      event("response.function_call_arguments.delta", { output_index: 1, delta: '{"n"' }),
      event("response.function_call_arguments.delta", { output_index: 1, delta: ":1}" }),
      event("response.output_item.done", { output_index: 1, item: CALL_ITEM }),
      event("response.completed", {
        response: {
          status: "completed",
          output: [REASONING_ITEM, CALL_ITEM],
          usage: { input_tokens: 9, output_tokens: 5 },
        },
      }),
    ],
    reasoning: "I add",
    replayed: ({ input }) => (input as unknown[]).slice(1, 3),
    replay: [REASONING_ITEM, CALL_ITEM],
  },
  {
    name: "anthropic: signed and redacted thinking",
    api: "anthropic",
    whole: {
      role: "assistant",
      content: [THINKING, REDACTED, TOOL_USE],
      stop_reason: "tool_use",
      usage: { input_tokens: 9, output_tokens: 5 },
    },
    events: [
      event("message_start", { message: { usage: { input_tokens: 9, output_tokens: 1 } } }),
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
      event("content_block_start", { index: 1, content_block: REDACTED }),
      event("content_block_start", { index: 2, content_block: { ...TOOL_USE, input: {} } }),
      event("content_block_delta", {
        index: 2,
        delta: { type: "input_json_delta", partial_json: '{"n":1}' },
      }),
      event("message_delta", { delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } }),
      event("message_stop", {}),
    ],
    reasoning: "I add",
    replayed: ({ messages }) => (messages as JsonObject[])[1]?.content,
    replay: [THINKING, REDACTED, TOOL_USE],
  },
  {
    name: "google: thought signatures",
    api: "google",
    whole: { candidates: [{ content: { role: "model", parts: PARTS }, finishReason: "STOP" }] },
    events: [
      ...["I ", "add"].map((text) =>
        data({ candidates: [{ content: { role: "model", parts: [{ text, thought: true }] } }] })
      ),
      data({
        candidates: [{ content: { role: "model", parts: PARTS.slice(1) }, finishReason: "STOP" }],
      }),
    ],
    reasoning: "I add",
    replayed: ({ contents }) => (contents as JsonObject[])[1]?.parts,
    replay: PARTS,
  },
];

/** The conversation after an answer, with a result for each of its calls. */
function after({ text, tool_calls, provider_data }: ModelResponse): ModelMessage[] {
  const kept = provider_data === undefined ? {} : { provider_data };
  return [
    { role: "user", text: "Add" },
    { role: "assistant", text, tool_calls, ...kept },
    ...tool_calls.map(({ call_id, name }): ModelMessage => (
      { role: "tool", call_id, name, text: "done", is_error: false }
    )),
  ];
}

function play(recorded: Pick<RecordedReasoning, "whole" | "events">, isStreamed: boolean) {
  return startRawServer(async (connection) => {
    if (!isStreamed) return await respond(connection, { body: JSON.stringify(recorded.whole) });
    await beginStream(connection, recorded.events);
    await endStream(connection);
  });
}

for (const recorded of RECORDED) {
  for (const isStreamed of [false, true]) {
    const mode = `${recorded.name} (${isStreamed ? "streamed" : "whole"})`;

    Deno.test(`${mode}: reasoning is separated from the answer and returned unchanged`, async () => {
      const format = formatOf(recorded.api);
      const server = play(recorded, isStreamed);
      const deltas: string[] = [];
      const options = isStreamed ? { onDelta: (text: string) => void deltas.push(text) } : {};
      const tools = [ADD_TOOL];

      const answer = await call(
        format,
        server.origin,
        request({ tools, ...recorded.changes }),
        options,
      );
      const messages = after(answer);
      await call(format, server.origin, request({ tools, messages, ...recorded.changes }), options);
      await server.stop();

      assert.equal(answer.reasoning, recorded.reasoning);
      assert.equal(answer.text, "");
      assert.deepEqual(deltas, []);
      assert.deepEqual(answer.tool_calls.map(({ arguments: given }) => given), [{ n: 1 }]);
      const sent = JSON.parse(server.requests[1]?.body ?? "");
      assert.deepEqual(recorded.replayed(sent), recorded.replay);
    });
  }

  Deno.test(`${recorded.name}: its reasoning is sent to no other provider`, async () => {
    const server = play(recorded, false);
    const first = await askAs("first", recorded.api, server.origin, recorded.changes);
    await server.stop();
    const messages = after({ ...first.answer, usage: first.usage });

    for (const { api } of WIRE_FORMATS) {
      const other = startRawServer((connection) =>
        respond(connection, { body: JSON.stringify(formatOf(api).whole({ text: "ok" })) })
      );
      await askAs("other", api, other.origin, { messages });
      await other.stop();

      const body = other.requests[0]?.body ?? "";
      for (const secret of ["I add", "c2ln", "gAAAA", "ZW5j"]) {
        assert.ok(!body.includes(secret), api);
      }
      assert.ok(body.includes("done"), "the conversation itself continues");
    }
  });
}

/** Calls the product's model port, which knows the provider of each reasoning. */
function askAs(name: string, api: ModelApi, origin: string, changes: Partial<ModelRequest> = {}) {
  const { providerTools = [], reasoningEffort = null, messages } = changes;
  const callModel = createModelCaller({
    resolveKey: () => Promise.resolve({ secret: TEST_KEY, keySource: "organisation" }),
    createAdapter: (endpoint) => createModelAdapter(endpoint),
  });
  return callModel({
    provider: {
      id: name,
      name,
      api,
      base_url: formatOf(api).baseUrl(origin),
      default_model: "test-model",
    },
    settings: {
      model: null,
      temperature: 0.7,
      max_tokens: null,
      reasoning_effort: reasoningEffort,
      provider_tools: providerTools,
    },
    userId: null,
    prompt: {
      system: "",
      messages: messages ?? [{ role: "user", text: "Add" }],
      tools: [ADD_TOOL],
    },
    signal: new AbortController().signal,
  });
}

/**
 * The requests that providers receive; the first `refusals` of them are refused with these
 * messages.
 */
async function sentAs(
  api: ModelApi,
  changes: Partial<ModelRequest>,
  refusals: readonly string[] = [],
): Promise<readonly JsonObject[]> {
  const server = startRawServer((connection, number) => {
    const refusal = refusals[number - 1];
    return respond(
      connection,
      refusal === undefined ? { body: JSON.stringify(formatOf(api).whole({ text: "ok" })) } : {
        status: 400,
        body: JSON.stringify({ error: { type: "invalid_request_error", message: refusal } }),
      },
    );
  });
  await askAs("p", api, server.origin, changes);
  await server.stop();
  return server.requests.map(({ body }) => JSON.parse(body));
}

const THOUGHT = { type: "thinking", thinking: [{ type: "text", text: "Hm." }] };
/** Answers whose content is a list of parts; their last part continues a sentence. */
const LISTS: readonly { readonly name: string; readonly contents: readonly JsonValue[] }[] = [
  { name: "whole", contents: [[THOUGHT, part("It "), { type: "reference" }, part("is 4.")]] },
  { name: "streamed as lists", contents: [[THOUGHT], [part("It ")], [part("is 4.")]] },
  { name: "streamed as a list, then as text", contents: ["", [THOUGHT], "It ", "is 4."] },
];

function part(text: string): JsonObject {
  return { type: "text", text };
}

for (const { name, contents } of LISTS) {
  const isStreamed = contents.length > 1;
  Deno.test(`an answer's content can be a list of parts (${name})`, async () => {
    const finish = { index: 0, finish_reason: "stop" };
    const server = play({
      whole: { choices: [{ ...finish, message: { content: contents[0] ?? null } }] },
      events: [
        ...contents.map((content) => data({ choices: [{ index: 0, delta: { content } }] })),
        data({ choices: [{ ...finish, delta: {} }] }),
        "data: [DONE]\n\n",
      ],
    }, isStreamed);
    const deltas: string[] = [];
    const format = formatOf("openai");
    const options = isStreamed ? { onDelta: (text: string) => void deltas.push(text) } : {};

    const answer = await call(format, server.origin, request(), options);
    await call(format, server.origin, request({ messages: after(answer) }), options);
    await server.stop();

    assert.deepEqual([answer.text, answer.reasoning], ["It is 4.", "Hm."]);
    assert.deepEqual(deltas.slice(0, 2), isStreamed ? ["It ", "is 4."] : []);
    const { messages } = JSON.parse(server.requests[1]?.body ?? "");
    assert.deepEqual(messages[2].content, [THOUGHT, part("It is 4.")]);
  });
}

Deno.test("each provider gets an effort in its own format, without a temperature", async () => {
  const [openai] = await sentAs("openai", { reasoningEffort: "high" });
  const [anthropic] = await sentAs("anthropic", { reasoningEffort: "high" });
  const [google] = await sentAs("google", { reasoningEffort: "high" });

  assert.deepEqual([openai?.reasoning_effort, openai?.temperature], ["high", undefined]);
  assert.deepEqual(anthropic?.thinking, { type: "adaptive", display: "summarized" });
  assert.deepEqual(anthropic?.output_config, { effort: "high" });
  assert.equal(anthropic?.temperature, undefined);
  assert.deepEqual(google?.generationConfig, {
    thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" },
  });
});

Deno.test("without an effort the request does not mention reasoning", async () => {
  for (const { api } of WIRE_FORMATS) {
    const [sent] = await sentAs(api, {});

    assert.doesNotMatch(JSON.stringify(sent), /reason|think|effort/i, api);
  }
});

Deno.test("older models get a token budget instead, and models without reasoning get nothing", async () => {
  const refused = "Thinking level is not supported for this model";
  const google = await sentAs("google", { reasoningEffort: "low" }, [refused]);
  const anthropic = await sentAs("anthropic", { reasoningEffort: "low" }, [
    "adaptive thinking is not supported on this model",
    "thinking: Extra inputs are not permitted",
  ]);
  const openai = await sentAs("openai", { reasoningEffort: "low" }, [
    "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
  ]);

  assert.deepEqual(google[1]?.generationConfig, {
    thinkingConfig: { includeThoughts: true, thinkingBudget: 2_048 },
  });
  assert.deepEqual(anthropic[1]?.thinking, { type: "enabled", budget_tokens: 4_096 });
  assert.deepEqual([anthropic[2]?.thinking, anthropic[2]?.output_config], [undefined, undefined]);
  assert.equal(openai[1]?.reasoning_effort, undefined);
});

Deno.test("google: calls of other models are marked if the API requires a signature", async () => {
  const messages: ModelMessage[] = after({
    text: "",
    tool_calls: ["a", "b"].map((id) => ({ call_id: id, name: "add", arguments: { n: 1 } })),
    finish_reason: "tool_calls",
    usage: { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0 },
  });

  const [plain, marked] = await sentAs("google", { messages }, [
    "Function call is missing a thought_signature in functionCall parts.",
  ]);

  const signatures = (body: JsonObject | undefined) =>
    ((body?.contents as { parts: JsonObject[] }[])[1]?.parts ?? []).map((part) =>
      part.thoughtSignature
    );
  assert.deepEqual(signatures(plain), [undefined, undefined]);
  assert.deepEqual(signatures(marked), ["skip_thought_signature_validator", undefined]);
});

Deno.test("anthropic: a kept call and its result have the same id, whatever the server wrote", async () => {
  const id = "functions.add:0";
  const messages = after({
    text: "",
    tool_calls: [{ call_id: id, name: "add", arguments: { n: 1 } }],
    finish_reason: "tool_calls",
    usage: { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0 },
    provider_data: {
      api: "anthropic",
      content: [THINKING, { ...TOOL_USE, id }],
      provider: "p",
    },
  });

  const [sent] = await sentAs("anthropic", { messages }, []);

  const [, turn, results] = sent?.messages as { content: JsonObject[] }[];
  assert.deepEqual(turn?.content[0], THINKING);
  assert.equal(turn?.content[1]?.id, "functions_add_0");
  assert.equal(results?.content[0]?.tool_use_id, "functions_add_0");
});

Deno.test("a server that accepts no reasoning gets the conversation without it", async () => {
  const messages = after({
    text: "",
    tool_calls: [{ call_id: "a", name: "add", arguments: { n: 1 } }],
    finish_reason: "tool_calls",
    usage: { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0 },
    provider_data: { api: "openai", reasoning_content: "I add", provider: "p" },
  });

  const [first, second] = await sentAs("openai", { messages }, [
    "The reasoning_content field is not allowed in input messages",
  ]);

  assert.match(JSON.stringify(first), /"reasoning_content":"I add"/);
  assert.doesNotMatch(JSON.stringify(second), /reasoning/);
});

Deno.test("anthropic: a budget leaves room for the answer within max_tokens", async () => {
  const bodies: JsonObject[] = [];
  const adapter = await createModelAdapter(
    { api: "anthropic", providerName: "anthropic", baseUrl: null, apiKey: TEST_KEY },
    {
      fetch: (_, init) => {
        bodies.push(JSON.parse(String(init?.body)));
        return Promise.resolve(Response.json(formatOf("anthropic").whole({ text: "ok" })));
      },
    },
  );
  const budgeted = { reasoningEffort: "max", hasReasoningBudget: true } as const;
  const options = { signal: new AbortController().signal };

  await adapter.generate(request({ ...budgeted, maxOutputTokens: 4_000 }), options);
  await adapter.generate(request({ ...budgeted, maxOutputTokens: 1_000 }), options);
  await adapter.generate(request(budgeted), options);

  assert.deepEqual(
    bodies.map(({ max_tokens, thinking }) => [max_tokens, thinking]),
    [
      [4_000, { type: "enabled", budget_tokens: 3_200 }],
      [1_000, undefined],
      [32_000, { type: "enabled", budget_tokens: 25_600 }],
    ],
  );
});
