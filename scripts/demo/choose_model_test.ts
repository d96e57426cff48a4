import assert from "node:assert/strict";
import { chooseModel, modelKeys } from "./choose_model.ts";

Deno.test("chooseModel() chooses the first provider whose variable is set, otherwise the script", () => {
  assert.equal(chooseModel({}).provider, "demo");
  assert.equal(chooseModel({ OPENAI_API_KEY: "" }).provider, "demo");
  assert.equal(chooseModel({ GOOGLE_API_KEY: "g", OLLAMA_HOST: "h" }).provider, "google");
});

Deno.test("modelKeys() returns the key of a real provider, and never an address", () => {
  const keysIn = (environment: Record<string, string>) =>
    modelKeys(chooseModel(environment), environment);

  assert.deepEqual(keysIn({ ANTHROPIC_API_KEY: "secret", OLLAMA_HOST: "h" }), ["secret"]);
  assert.deepEqual(keysIn({ OLLAMA_HOST: "127.0.0.1" }), []);
  assert.deepEqual(keysIn({}), []);
});
