import assert from "node:assert/strict";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import { createModelCaller, type ModelCall } from "../../../shared/models/llm/call_model.ts";
import { createModelAdapter } from "../../../shared/models/llm/create_model_adapter.ts";
import type { ModelApi } from "../../../shared/models/llm/model_port.ts";
import { beginStream, endStream, type RawServer, respond, startRawServer } from "./raw_server.ts";
import { formatOf } from "./wire_format.ts";

/** How a provider says that it does not serve a model. */
interface MissingModel {
  readonly name: string;
  readonly api: ModelApi;
  readonly status: number;
  readonly body: unknown;
  readonly settings?: Partial<ModelCall["settings"]>;
  /** The end of the address that received the request. */
  readonly path?: string;
}

const OPENAI = {
  error: {
    message: "The model `old-1` does not exist or you do not have access to it.",
    type: "invalid_request_error",
    param: null,
    code: "model_not_found",
  },
};

const MISSING: readonly MissingModel[] = [
  { name: "OpenAI chat completions", api: "openai", status: 404, body: OPENAI },
  {
    name: "OpenAI Responses",
    api: "openai",
    status: 400,
    body: {
      error: {
        message: "The requested model 'old-1' does not exist.",
        type: "invalid_request_error",
        param: "model",
        code: "model_not_found",
      },
    },
    settings: { provider_tools: ["web_search"] },
    path: "/responses",
  },
  { name: "an OpenAI project without the model", api: "openai", status: 403, body: OPENAI },
  {
    name: "Anthropic",
    api: "anthropic",
    status: 404,
    body: { type: "error", error: { type: "not_found_error", message: "model: old-1" } },
  },
  {
    name: "Gemini",
    api: "google",
    status: 404,
    body: {
      error: {
        code: 404,
        message: "models/old-1 is not found for API version v1beta, or is not supported for " +
          "generateContent.",
        status: "NOT_FOUND",
      },
    },
  },
  {
    name: "Mistral",
    api: "openai",
    status: 400,
    body: {
      object: "error",
      message: "Invalid model: old-1",
      type: "invalid_model",
      param: null,
      code: "1500",
    },
  },
  {
    name: "OpenRouter",
    api: "openai",
    status: 400,
    body: { error: { message: "old-1 is not a valid model ID", code: 400 } },
  },
  {
    name: "Ollama",
    api: "openai",
    status: 404,
    body: { error: { message: "model 'old-1' not found", type: "api_error", code: null } },
  },
];

const callModel = createModelCaller({
  resolveKey: () => Promise.resolve({ secret: "key", keySource: "organisation" }),
  createAdapter: (endpoint) => createModelAdapter(endpoint),
});

function providerAt(server: RawServer, api: ModelApi, name: string) {
  const base_url = formatOf(api).baseUrl(server.origin);
  return { id: name, name, api, base_url, default_model: `${name}-large` };
}

/** A call of the model `old-1` of the provider "first". */
function callOf(
  first: RawServer,
  { api, settings = {} }: MissingModel,
  changes: Partial<ModelCall>,
): ModelCall {
  return {
    provider: providerAt(first, api, "first"),
    settings: { model: "old-1", temperature: 0.2, max_tokens: null, ...settings },
    userId: null,
    prompt: { system: "", messages: [{ role: "user", text: "Hello" }], tools: [] },
    signal: new AbortController().signal,
    ...changes,
  };
}

function refusing({ status, body }: Pick<MissingModel, "status" | "body">): RawServer {
  return startRawServer((connection) =>
    respond(connection, { status, body: JSON.stringify(body) })
  );
}

for (const missing of MISSING) {
  for (const isStreamed of [false, true]) {
    const mode = isStreamed ? "streamed" : "whole";
    const streaming = isStreamed ? { onDelta: () => {} } : {};

    Deno.test(`${missing.name}: a model that the provider does not serve is passed over (${mode})`, async () => {
      const first = refusing(missing);
      const second = startRawServer(async (connection) => {
        const { whole, events } = formatOf("anthropic");
        const said = { text: "From the second" };
        if (!isStreamed) return await respond(connection, { body: JSON.stringify(whole(said)) });
        await beginStream(connection, events(said));
        await endStream(connection);
      });

      const fallbacks = [{ provider: providerAt(second, "anthropic", "second"), model: null }];
      const { answer, usage } = await callModel(callOf(first, missing, { fallbacks, ...streaming }))
        .finally(() => Promise.all([first.stop(), second.stop()]));

      assert.equal(answer.text, "From the second");
      assert.deepEqual(usage.passed_over, [
        { provider: "first", model: "old-1", code: "MODEL_NOT_FOUND" },
      ]);
      assert.equal(first.requests.length, 1);
      if (missing.path !== undefined) {
        assert.ok(first.requests[0]?.headers.includes(`${missing.path} HTTP/1.1`));
      }
    });
  }

  Deno.test(`${missing.name}: without fallbacks, the error names the model, the provider and what to change`, async () => {
    const first = refusing(missing);

    const error = await callModel(callOf(first, missing, {})).catch((thrown) => thrown);
    await first.stop();

    assert.ok(error instanceof SwarmError);
    assert.equal(error.code, "MODEL_NOT_FOUND");
    assert.match(error.message, /provider 'first': it does not serve the model 'old-1': .*old-1/);
    assert.match(error.hint, /agent's model.*base_url/);
    assert.equal(error.isRetryable, false);
    assert.deepEqual(error.details, {
      provider: "first",
      model: "old-1",
      status: missing.status,
    });
    assert.equal(first.requests.length, 1);
  });
}

Deno.test("a task waits for a fallback that is down if the first provider no longer serves the model", async () => {
  const [missing] = MISSING;
  assert.ok(missing);
  const first = refusing(missing);
  const second = refusing({ status: 503, body: {} });

  const fallbacks = [{ provider: providerAt(second, "openai", "second"), model: null }];
  const error = await callModel(callOf(first, missing, { fallbacks })).catch((thrown) => thrown);
  await Promise.all([first.stop(), second.stop()]);

  assert.deepEqual([error.code, error.isRetryable], ["MODEL_UNAVAILABLE", true]);
});

for (
  const [status, message] of [
    [400, "old-1 does not support 3 images"],
    [404, "No endpoints found that support tool use."],
  ] as const
) {
  Deno.test(`a request that the model could answer in another form is not passed over: ${message}`, async () => {
    const invalid = { status, body: { error: { message } } };
    const first = refusing(invalid);

    const error = await callModel(callOf(first, { ...invalid, name: "", api: "openai" }, {}))
      .catch((thrown) => thrown);
    await first.stop();

    assert.equal(error.code, "MODEL_REQUEST_INVALID");
  });
}
