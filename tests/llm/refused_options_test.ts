import assert from "node:assert/strict";
import type { JsonObject } from "../../shared/json.ts";
import { createModelCaller, type ModelCall } from "../../shared/llm/call_model.ts";
import { createModelAdapter } from "../../shared/llm/create_model_adapter.ts";
import type { ModelApi } from "../../shared/llm/model_port.ts";
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
