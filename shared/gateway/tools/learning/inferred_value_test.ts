import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../../platform/values/json.ts";
import { inferMissingValue } from "./inferred_value.ts";

function infer(name: string, property: JsonObject, request: string): JsonValue | undefined {
  const schema = { type: "object", properties: { [name]: property }, required: [name] };
  return inferMissingValue(schema, {}, request)?.value;
}

Deno.test("inferMissingValue() uses the only value that matches the argument", () => {
  assert.equal(infer("to", { type: "string", format: "email" }, "Write to a@b.co, now"), "a@b.co");
  assert.equal(
    infer("url", { type: "string" }, "Read https://x.example/y?z=1."),
    "https://x.example/y?z=1",
  );
  assert.equal(
    infer("day", { type: "string", format: "date" }, "on 2026-11-21 please"),
    "2026-11-21",
  );
  assert.equal(infer("n", { type: "integer" }, "the first 7 rows of v2.1"), 7);
  assert.equal(infer("unit", { enum: ["metric", "imperial"] }, "in metric units"), "metric");
  assert.equal(infer("title", { type: "string" }, 'Call it "My plan"'), "My plan");
});

Deno.test("inferMissingValue() guesses nothing if two values match or none", () => {
  assert.equal(infer("to", { type: "string", format: "email" }, "a@b.co or c@d.co"), undefined);
  assert.equal(infer("n", { type: "integer" }, "3 or 4"), undefined);
  assert.equal(infer("unit", { enum: ["metric", "imperial"] }, "metric or imperial"), undefined);
  assert.equal(infer("title", { type: "string" }, "It's hers, isn't it"), undefined);
  assert.equal(infer("flag", { type: "boolean" }, "yes"), undefined);
});

Deno.test("inferMissingValue() keeps existing arguments", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };

  assert.equal(inferMissingValue(schema, { a: "x" }, '"y"'), undefined);
});
