import assert from "node:assert/strict";
import { modelOptionsOf } from "./model_options.ts";

Deno.test("modelOptionsOf() reads what a tool offers and takes by default", () => {
  const options = modelOptionsOf({
    type: "object",
    properties: {
      prompt: { type: "string" },
      llm_provider: { type: "string", enum: ["anthropic", "openai"], default: "anthropic" },
      llm_model: { type: "string", default: "small" },
    },
  });

  assert.deepEqual(options, {
    providers: ["anthropic", "openai"],
    default_provider: "anthropic",
    models: null,
    default_model: "small",
  });
});

Deno.test("modelOptionsOf() is null for a tool that offers no choice, whatever its schema", () => {
  for (const schema of [{}, { properties: { prompt: {} } }, { properties: null }]) {
    assert.equal(modelOptionsOf(schema), null);
  }
});

Deno.test("modelOptionsOf() takes nothing that is no name", () => {
  const options = modelOptionsOf({ properties: { llm_model: { enum: [1, "big"], default: 7 } } });

  assert.deepEqual(options, {
    providers: null,
    default_provider: null,
    models: ["big"],
    default_model: null,
  });
});
