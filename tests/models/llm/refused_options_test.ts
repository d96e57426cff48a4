import assert from "node:assert/strict";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { createModelCaller, type ModelCall } from "../../../shared/models/llm/call_model.ts";
import { createModelAdapter } from "../../../shared/models/llm/create_model_adapter.ts";
import type { ModelApi, ModelMessage } from "../../../shared/models/llm/model_port.ts";
import { type RawServer, respond, startRawServer } from "./raw_server.ts";
import { ADD_TOOL } from "./tested_model.ts";
import { formatOf } from "./wire_format.ts";

const RESPONSES_ANSWER = {
  status: "completed",
  output: [{
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "ok", annotations: [] }],
  }],
  usage: { input_tokens: 1, output_tokens: 1 },
};

/** A server that refuses requests with the returned message; undefined answers. */
function serverRefusing(
  api: ModelApi,
  refusalOf: (body: JsonObject, path: string) => string | undefined,
  status = 400,
): RawServer {
  const server = startRawServer((connection, number) => {
    const { body, headers } = server.requests[number - 1] ?? { body: "{}", headers: "" };
    const path = headers.split(" ", 2)[1] ?? "";
    const refusal = refusalOf(JSON.parse(body), path);
    if (refusal !== undefined) {
      const error = { type: "invalid_request_error", message: refusal };
      return respond(connection, { status, body: JSON.stringify({ error }) });
    }
    const isResponses = path.endsWith("/responses");
    const answer = isResponses ? RESPONSES_ANSWER : formatOf(api).whole({ text: "ok" });
    return respond(connection, { body: JSON.stringify(answer) });
  });
  return server;
}

function newCaller() {
  return createModelCaller({
    resolveKey: () => Promise.resolve({ secret: "key", keySource: "organisation" }),
    createAdapter: (endpoint) => createModelAdapter(endpoint),
  });
}

function callOf(
  { origin }: RawServer,
  api: ModelApi,
  { settings, ...changes }: Partial<Omit<ModelCall, "settings">> & {
    readonly settings?: Partial<ModelCall["settings"]>;
  } = {},
): ModelCall {
  return {
    provider: {
      id: "p",
      name: "p",
      api,
      base_url: formatOf(api).baseUrl(origin),
      default_model: "large",
    },
    settings: { model: null, temperature: null, max_tokens: null, ...settings },
    userId: null,
    prompt: { system: "", messages: [{ role: "user", text: "Hello" }], tools: [ADD_TOOL] },
    signal: new AbortController().signal,
    ...changes,
  };
}

function bodiesOf({ requests }: RawServer): JsonObject[] {
  return requests.map(({ body }) => JSON.parse(body));
}

for (
  const [status, refusal] of [
    [
      400,
      "Function tools with reasoning_effort are not supported for large in /v1/chat/completions. " +
      "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    ],
    [404, "This model is only supported in v1/responses and not in v1/chat/completions."],
  ] as const
) {
  Deno.test(`a model that takes functions only over the Responses API is asked there (HTTP ${status})`, async () => {
    const server = serverRefusing(
      "openai",
      (_, path) => path.endsWith("/responses") ? undefined : refusal,
      status,
    );

    const { answer } = await newCaller()(callOf(server, "openai"));
    await server.stop();

    assert.equal(answer.text, "ok");
    const [first, second] = bodiesOf(server);
    assert.equal(server.requests.length, 2);
    assert.ok(first?.messages !== undefined && second?.input !== undefined);
    assert.deepEqual((second?.tools as JsonObject[]).map(({ name }) => name), ["add"]);
  });
}

/** A server that refuses any temperature, and how often it was sent one. */
function withoutTemperature() {
  const server = serverRefusing(
    "openai",
    ({ temperature }) => temperature === undefined ? undefined : "'temperature' is not supported",
  );
  return { server, offers: () => bodiesOf(server).filter((body) => "temperature" in body).length };
}

Deno.test("an option that a model refused is not offered to it again", async () => {
  const { server, offers } = withoutTemperature();
  const callModel = newCaller();

  for (let turn = 0; turn < 4; turn++) {
    await callModel(callOf(server, "openai", { settings: { temperature: 0.2 } }));
  }
  await server.stop();

  assert.deepEqual([server.requests.length, offers()], [5, 1]);
});

Deno.test("another model of the same provider is still offered the option", async () => {
  const { server, offers } = withoutTemperature();
  const callModel = newCaller();

  for (const model of ["large", "small", "large"]) {
    await callModel(callOf(server, "openai", { settings: { model, temperature: 0.2 } }));
  }
  await server.stop();

  assert.equal(offers(), 2);
});

Deno.test("a model that takes only a token budget gets a budget from the second turn on", async () => {
  const server = serverRefusing(
    "anthropic",
    ({ thinking }) =>
      (thinking as JsonObject | undefined)?.type === "adaptive"
        ? "adaptive thinking is not supported on this model"
        : undefined,
  );
  const callModel = newCaller();
  const settings = { reasoning_effort: "low" } as const;

  // The first two learn it at the same time.
  await Promise.all([0, 1].map(() => callModel(callOf(server, "anthropic", { settings }))));
  const learned = server.requests.length;
  await callModel(callOf(server, "anthropic", { settings }));
  await server.stop();

  assert.deepEqual([learned, server.requests.length], [4, 5]);
  const [last] = bodiesOf(server).slice(-1);
  assert.deepEqual(last?.thinking, { type: "enabled", budget_tokens: 4_096 });
});

Deno.test("a refused effort does not keep other efforts from the model", async () => {
  const server = serverRefusing(
    "openai",
    ({ reasoning_effort: effort }) =>
      effort === "low" ? "reasoning_effort must be 'none' or 'high'" : undefined,
  );
  const callModel = newCaller();

  for (const effort of ["low", "low", "high"] as const) {
    await callModel(callOf(server, "openai", { settings: { reasoning_effort: effort } }));
  }
  await server.stop();

  const efforts = bodiesOf(server).map(({ reasoning_effort: effort }) => effort);
  assert.deepEqual(efforts, ["low", undefined, undefined, "high"]);
});

Deno.test("what a request that fails in the end left out is offered again", async () => {
  const server = serverRefusing("openai", () => "temperature and everything else is wrong");
  const callModel = newCaller();

  for (let turn = 0; turn < 2; turn++) {
    const call = callOf(server, "openai", { settings: { temperature: 0.2 } });
    await assert.rejects(callModel(call), { code: "MODEL_REQUEST_INVALID" });
  }
  await server.stop();

  const offered = bodiesOf(server).map((body) => "temperature" in body);
  assert.deepEqual(offered, [true, false, true, false]);
});

Deno.test("a refusal that depends on one conversation does not change others", async () => {
  const server = serverRefusing(
    "anthropic",
    (body) =>
      JSON.stringify(body.messages).includes("c2ln") ? "invalid thinking signature" : undefined,
  );
  const callModel = newCaller();
  const settings = { reasoning_effort: "low" } as const;
  const thought = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
  const messages: readonly ModelMessage[] = [
    { role: "user", text: "Hello" },
    {
      role: "assistant",
      text: "Hm",
      tool_calls: [],
      provider_data: { api: "anthropic", provider: "p", content: [thought] },
    },
    { role: "user", text: "Go on" },
  ];

  await callModel(callOf(server, "anthropic", {
    settings,
    prompt: { system: "", messages, tools: [ADD_TOOL] },
  }));
  const broken = server.requests.length;
  await callModel(callOf(server, "anthropic", { settings }));
  await server.stop();

  assert.ok(broken > 1);
  const [healthy] = bodiesOf(server).slice(broken);
  assert.deepEqual(healthy?.output_config, { effort: "low" });
});

Deno.test("a model that takes no schema beside functions is asked without it, also at the next turn", async () => {
  const hasForm = (body: JsonObject) => {
    const { responseMimeType } = body.generationConfig as JsonObject ?? {};
    return responseMimeType !== undefined;
  };
  const server = serverRefusing(
    "google",
    (body) =>
      hasForm(body)
        ? "Function calling with a response mime type: 'application/json' is unsupported"
        : undefined,
  );
  const schema = {
    type: "object",
    properties: { name: { type: "string" } },
    required: ["name"],
    additionalProperties: false,
  };
  const call = newCaller();
  const asked = callOf(server, "google", {
    prompt: {
      system: "",
      messages: [{ role: "user", text: "Hello" }],
      tools: [ADD_TOOL],
      output: { schema, isBesideTools: true },
    },
  });

  const { answer } = await call(asked);
  await call(asked);
  await server.stop();

  assert.equal(answer.text, "ok");
  assert.deepEqual(bodiesOf(server).map(hasForm), [true, false, false]);
  assert.ok(bodiesOf(server).every((body) => Array.isArray(body.tools)));
});
