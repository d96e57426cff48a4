import assert from "node:assert/strict";
import type { ModelApi } from "../../../shared/models/llm/model_port.ts";
import { respond, startRawServer } from "./raw_server.ts";
import { call } from "./tested_model.ts";
import { formatOf } from "./wire_format.ts";

/** How providers refuse a prompt that is longer than the model's window. */
const REFUSALS: readonly (readonly [ModelApi, unknown])[] = [
  ["openai", {
    error: {
      type: "invalid_request_error",
      code: "context_length_exceeded",
      message: "Your input exceeds the limits of this model.",
    },
  }],
  ["openai", {
    error: {
      code: 400,
      message: "This model's maximum context length is 4096 tokens. However, you requested 5000.",
    },
  }],
  ["anthropic", {
    type: "error",
    error: {
      type: "invalid_request_error",
      message: "prompt is too long: 212345 tokens > 200000 maximum",
    },
  }],
  ["google", {
    error: {
      code: 400,
      status: "INVALID_ARGUMENT",
      message: "The input token count (1100000) exceeds the maximum number of tokens allowed.",
    },
  }],
];

for (const [api, body] of REFUSALS) {
  Deno.test(`${api}: a prompt longer than the window is distinguished from other refusals: ${JSON.stringify(body).slice(0, 90)}`, async () => {
    const format = formatOf(api);
    const server = startRawServer((connection) =>
      respond(connection, { status: 400, body: JSON.stringify(body) })
    );

    const error = await call(format, server.origin).catch((thrown) => thrown);
    await server.stop();

    assert.equal(error.code, "MODEL_CONTEXT_EXCEEDED");
    assert.equal(error.isRetryable, false);
  });
}
