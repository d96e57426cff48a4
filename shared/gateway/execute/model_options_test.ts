import assert from "node:assert/strict";
import { modelOptionsOf } from "./model_options.ts";

Deno.test("modelOptionsOf() reads a tool's choices and defaults", () => {
  const options = modelOptionsOf({
    type: "object",
    properties: {
      prompt: { type: "string" },
      llm_provider: { type: "string", enum: ["anthropic", "openai"], default: "anthropic" },
      llm_model: { type: "string", default: "small" },
    },
  }, null);

  assert.deepEqual(options, {
    providers: ["anthropic", "openai"],
    default_provider: "anthropic",
    models: null,
    default_model: "small",
  });
});

Deno.test("modelOptionsOf() returns null for a tool without a choice, whatever its schema", () => {
  for (const schema of [{}, { properties: { prompt: {} } }, { properties: null }]) {
    assert.equal(modelOptionsOf(schema, null), null);
  }
});

Deno.test("modelOptionsOf() ignores values that are not names", () => {
  const options = modelOptionsOf(
    { properties: { llm_model: { enum: [1, "big"], default: 7 } } },
    null,
  );

  assert.deepEqual(options, {
    providers: null,
    default_provider: null,
    models: ["big"],
    default_model: null,
  });
});

Deno.test("modelOptionsOf() uses the tool's row, whatever its schema", () => {
  const row = {
    providers: ["b", "a"],
    default_provider: "b",
    default_model: "b-small",
    models_by_provider: { b: ["b-small", "b-large"], a: ["a-small", "b-large"] },
  };

  const options = modelOptionsOf({ properties: { llm_provider: { enum: ["other"] } } }, row);

  assert.deepEqual(options, { ...row, models: ["b-small", "b-large", "a-small"] });
});
