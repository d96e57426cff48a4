import assert from "node:assert/strict";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import type { ModelMessage, ProviderTool } from "../../../shared/models/llm/model_port.ts";
import { beginStream, endStream, respond, startRawServer } from "./raw_server.ts";
import { ADD_TOOL, call, request } from "./tested_model.ts";
import { formatOf } from "./wire_format.ts";

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, fields: JsonObject) => `event: ${type}\n${data({ type, ...fields })}`;

/** Answers consecutive requests: with a body, or with a stream's events. */
function play(answers: readonly (JsonObject | readonly string[])[]) {
  return startRawServer(async (connection, number) => {
    const answer = answers[number - 1] ?? {};
    if (!Array.isArray(answer)) return await respond(connection, { body: JSON.stringify(answer) });
    await beginStream(connection, answer);
    await endStream(connection);
  });
}

const TOOLS: readonly ProviderTool[] = ["web_search", "code_execution"];
const PAGE = { title: "Tides", url: "https://tides.example" };
const SEARCH = {
  type: "server_tool_use",
  id: "srvtoolu_1",
  name: "web_search",
  input: { query: "tide today" },
};
const FOUND = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [{ type: "web_search_result", ...PAGE, encrypted_content: "ZW5j" }],
};
const RUN = {
  type: "server_tool_use",
  id: "srvtoolu_2",
  name: "bash_code_execution",
  input: { command: "echo 42" },
};
const PRINTED = {
  type: "bash_code_execution_tool_result",
  tool_use_id: "srvtoolu_2",
  content: { type: "bash_code_execution_result", stdout: "42\n", return_code: 0 },
};
const CITED = {
  type: "text",
  text: "High at noon",
  citations: [{ type: "web_search_result_location", encrypted_index: "aWR4", ...PAGE }],
};

const anthropicMessage = (content: JsonObject[], stop_reason: string, searches = 0) => ({
  role: "assistant",
  content,
  stop_reason,
  container: { id: "container_1" },
  usage: {
    input_tokens: 10,
    output_tokens: 5,
    ...(searches === 0 ? {} : { server_tool_use: { web_search_requests: searches } }),
  },
});

/**
 * A paused turn that continues: the provider's answers to the two requests, complete and streamed.
 */
const ANTHROPIC_ANSWERS = {
  whole: [
    anthropicMessage([SEARCH, FOUND], "pause_turn", 1),
    anthropicMessage([RUN, PRINTED, CITED], "end_turn"),
  ],
  streamed: [
    [
      event("message_start", { message: { usage: { input_tokens: 10, output_tokens: 1 } } }),
      event("content_block_start", { index: 0, content_block: { ...SEARCH, input: {} } }),
      ...['{"query":', '"tide today"}'].map((partial_json) =>
        event("content_block_delta", {
          index: 0,
          delta: { type: "input_json_delta", partial_json },
        })
      ),
      event("content_block_start", { index: 1, content_block: FOUND }),
      event("message_delta", {
        delta: { stop_reason: "pause_turn", container: { id: "container_1" } },
        usage: { output_tokens: 5, server_tool_use: { web_search_requests: 1 } },
      }),
    ],
    [
      event("message_start", { message: { usage: { input_tokens: 10, output_tokens: 1 } } }),
      event("content_block_start", { index: 0, content_block: RUN }),
      event("content_block_start", { index: 1, content_block: PRINTED }),
      event("content_block_start", { index: 2, content_block: { type: "text", text: "" } }),
      event("content_block_delta", { index: 2, delta: { type: "text_delta", text: CITED.text } }),
      event("content_block_delta", {
        index: 2,
        delta: { type: "citations_delta", citation: CITED.citations[0] ?? {} },
      }),
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } }),
    ],
  ],
};

for (const isStreamed of [false, true]) {
  Deno.test(`anthropic (${isStreamed ? "streamed" : "whole"}): a paused turn continues, and its tools are reported and replayed`, async () => {
    const answers = isStreamed ? ANTHROPIC_ANSWERS.streamed : ANTHROPIC_ANSWERS.whole;
    const server = play([...answers, anthropicMessage([{ type: "text", text: "ok" }], "end_turn")]);
    const deltas: string[] = [];
    const options = isStreamed ? { onDelta: (text: string) => void deltas.push(text) } : {};
    const asked = { tools: [ADD_TOOL], providerTools: TOOLS };

    const answer = await call(formatOf("anthropic"), server.origin, request(asked), options);
    const { text, tool_calls, provider_data = null } = answer;
    const messages: ModelMessage[] = [
      { role: "user", text: "Tide?" },
      { role: "assistant", text, tool_calls, provider_data },
      { role: "user", text: "Go on" },
    ];
    await call(formatOf("anthropic"), server.origin, request({ ...asked, messages }));
    await server.stop();

    assert.equal(answer.text, "High at noon");
    assert.deepEqual(deltas, isStreamed ? ["High at noon"] : []);
    assert.deepEqual(answer.provider_tool_calls, [
      {
        name: "web_search",
        input: { query: "tide today" },
        output: [{ type: "web_search_result", ...PAGE }],
      },
      { name: "code_execution", input: { command: "echo 42" }, output: PRINTED.content },
    ]);
    assert.deepEqual(answer.usage, {
      input_tokens: 20,
      cached_input_tokens: 0,
      output_tokens: 10,
      web_search_calls: 1,
      code_execution_calls: 1,
    });
    const [first, second, third] = server.requests.map(({ body }) => JSON.parse(body));
    assert.deepEqual(first.tools.slice(1), [
      { type: "web_search_20250305", name: "web_search" },
      { type: "code_execution_20250825", name: "code_execution" },
    ]);
    assert.deepEqual(second.messages.at(-1), { role: "assistant", content: [SEARCH, FOUND] });
    assert.equal(second.container, "container_1");
    assert.deepEqual(third.messages[1].content, [SEARCH, FOUND, RUN, PRINTED, CITED]);
  });
}

Deno.test("anthropic: a turn that is paused forever is an invalid output", async () => {
  const paused = anthropicMessage([SEARCH, FOUND], "pause_turn");
  const server = play(Array.from({ length: 100 }, () => paused));

  const error = await call(
    formatOf("anthropic"),
    server.origin,
    request({ providerTools: TOOLS }),
  ).catch((thrown) => thrown);
  await server.stop();

  assert.equal(error.code, "MODEL_OUTPUT_INVALID");
  assert.ok(server.requests.length < 30);
});

Deno.test("openai: provider tools are requested over the Responses API, complete and streamed", async () => {
  const search = {
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: { type: "search", query: "tide today" },
  };
  const program = {
    type: "code_interpreter_call",
    id: "ci_1",
    status: "completed",
    code: "print(42)",
    outputs: [{ type: "logs", logs: "42" }],
  };
  const message = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    content: [{ type: "output_text", text: "High at noon", annotations: [] }],
  };
  const output = [search, program, message];
  const usage = {
    input_tokens: 30,
    input_tokens_details: { cached_tokens: 10 },
    output_tokens: 5,
  };
  const whole = { status: "completed", output, usage };
  const streamed = [
    ...output.slice(0, 2).map((item, output_index) =>
      event("response.output_item.done", { output_index, item })
    ),
    ...["High ", "at noon"].map((delta) =>
      event("response.output_text.delta", { output_index: 2, delta })
    ),
    event("response.output_item.done", { output_index: 2, item: message }),
    event("response.completed", { response: whole }),
  ];

  for (const answer of [whole, streamed]) {
    const server = play([answer]);
    const deltas: string[] = [];
    const options = answer === whole ? {} : { onDelta: (text: string) => void deltas.push(text) };
    const asked = request({ tools: [ADD_TOOL], providerTools: TOOLS });
    const response = await call(formatOf("openai"), server.origin, asked, options);
    await server.stop();

    assert.match(server.requests[0]?.headers ?? "", /^POST \/v1\/responses /);
    const sent = JSON.parse(server.requests[0]?.body ?? "");
    assert.deepEqual(sent.tools.slice(1), [
      { type: "web_search" },
      { type: "code_interpreter", container: { type: "auto" } },
    ]);
    assert.equal(sent.tools[0].name, "add");
    assert.equal(sent.store, false);
    assert.equal(response.text, "High at noon");
    assert.equal(deltas.join(""), answer === whole ? "" : "High at noon");
    assert.deepEqual(response.provider_tool_calls, [
      { name: "web_search", input: search.action, output: "completed" },
      { name: "code_execution", input: { code: "print(42)" }, output: program.outputs },
    ]);
    assert.deepEqual(response.usage, {
      input_tokens: 30,
      cached_input_tokens: 10,
      output_tokens: 5,
      web_search_calls: 1,
      code_execution_calls: 1,
    });
    assert.deepEqual(response.provider_data, { api: "openai_responses", items: output });
  }
});

Deno.test("openai: the Responses API reports truncated, refused and failed answers", async () => {
  const message = (content: JsonObject) => ({
    type: "message",
    role: "assistant",
    content: [content],
  });
  const asked = request({ providerTools: TOOLS });
  const answers: JsonObject[] = [
    {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [message({ type: "output_text", text: "And so" })],
    },
    { status: "completed", output: [message({ type: "refusal", refusal: "I will not" })] },
    { status: "failed", error: { code: "rate_limit_exceeded", message: "Slow down" } },
  ];
  const server = play(answers);
  const ask = () => call(formatOf("openai"), server.origin, asked);

  const cut = await ask();
  const refused = await ask();
  const error = await ask().catch((thrown) => thrown);
  await server.stop();

  assert.deepEqual([cut.text, cut.finish_reason], ["And so", "length"]);
  assert.deepEqual([refused.text, refused.finish_reason], ["I will not", "refused"]);
  assert.equal(error.code, "MODEL_RATE_LIMITED");
});

Deno.test("google: searches and programs are reported, counted and replayed", async () => {
  const parts = [
    { executableCode: { language: "PYTHON", code: "print(42)" } },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: "42" } },
    { text: "High at noon" },
  ];
  const server = play([
    {
      candidates: [{
        content: { role: "model", parts },
        finishReason: "STOP",
        groundingMetadata: {
          webSearchQueries: ["tide today"],
          groundingChunks: [{ web: { uri: PAGE.url, title: PAGE.title } }],
        },
      }],
    },
    { candidates: [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }] },
  ]);
  const asked = { tools: [ADD_TOOL], providerTools: TOOLS };

  const { text, tool_calls, provider_data = null, provider_tool_calls, usage } = await call(
    formatOf("google"),
    server.origin,
    request(asked),
  );
  const messages: ModelMessage[] = [
    { role: "user", text: "Tide?" },
    { role: "assistant", text, tool_calls, provider_data },
    { role: "user", text: "Go on" },
  ];
  await call(formatOf("google"), server.origin, request({ ...asked, messages }));
  await server.stop();

  assert.deepEqual(provider_tool_calls, [
    {
      name: "web_search",
      input: { query: "tide today" },
      output: [{ uri: PAGE.url, title: PAGE.title }],
    },
    { name: "code_execution", input: { code: "print(42)" }, output: "42" },
  ]);
  assert.deepEqual([usage.web_search_calls, usage.code_execution_calls], [1, 1]);
  const [first, second] = server.requests.map(({ body }) => JSON.parse(body));
  assert.deepEqual(first.tools.slice(1), [{ googleSearch: {} }, { codeExecution: {} }]);
  assert.deepEqual(first.toolConfig, { includeServerSideToolInvocations: true });
  assert.deepEqual(second.contents[1].parts, parts);
});
