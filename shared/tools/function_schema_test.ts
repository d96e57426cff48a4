import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../json.ts";
import { toFunctionSchema } from "./function_schema.ts";

Deno.test("toFunctionSchema() makes an object of an empty schema", () => {
  assert.deepEqual(toFunctionSchema({}), { type: "object", properties: {} });
});

Deno.test("toFunctionSchema() puts local references in place", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { at: { $ref: "#/$defs/point", description: "where" } },
    $defs: {
      point: { type: "object", properties: { x: { $ref: "#/$defs/n" } } },
      n: { type: "number" },
    },
  };

  assert.deepEqual(toFunctionSchema(schema), {
    type: "object",
    properties: {
      at: { type: "object", properties: { x: { type: "number" } }, description: "where" },
    },
  });
});

Deno.test("toFunctionSchema() cuts cycles", () => {
  const schema = {
    type: "object",
    properties: { tree: { $ref: "#/$defs/node" } },
    $defs: { node: { type: "object", properties: { child: { $ref: "#/$defs/node" } } } },
  };

  const tree = (toFunctionSchema(schema).properties as JsonObject).tree;

  assert.match(JSON.stringify(tree), /"child":\{"type":"object","description":"Nested again/);
});

Deno.test("toFunctionSchema() folds a choice at the root and tells the rule", () => {
  const schema = {
    type: "object",
    properties: { id: { type: "string" }, slug: { type: "string" } },
    anyOf: [{ required: ["id"] }, { required: ["slug"] }],
  };

  assert.deepEqual(toFunctionSchema(schema), {
    type: "object",
    properties: { id: { type: "string" }, slug: { type: "string" } },
    description: "Give one of these sets of arguments: id; or slug.",
  });
});

Deno.test("toFunctionSchema() sums what all parts of the root demand", () => {
  const schema = {
    allOf: [
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      { type: "object", properties: { b: true }, required: ["b"] },
    ],
  };

  assert.deepEqual(toFunctionSchema(schema), {
    type: "object",
    properties: { a: { type: "string" }, b: {} },
    required: ["a", "b"],
  });
});

Deno.test("toFunctionSchema() keeps properties that are named like keywords", () => {
  const schema = {
    type: "object",
    properties: { id: { type: "string" }, definitions: { enum: [1] }, enum: { type: "string" } },
  };

  assert.deepEqual(toFunctionSchema(schema), schema);
});

Deno.test("toFunctionSchema() refuses what no model can be given", () => {
  let deep: JsonValue = { type: "string" };
  for (let level = 0; level < 40; level++) deep = { type: "array", items: deep };
  const refused: JsonObject[] = [
    { properties: { a: { $ref: "https://example.com/a.json" } } },
    { properties: { a: { $ref: "#/$defs/none" } } },
    { properties: { "not a name": { type: "string" } } },
    { properties: { a: deep } },
    { description: "x".repeat(200_000) },
  ];
  for (const schema of refused) {
    assert.throws(() => toFunctionSchema(schema), { code: "TOOL_CONFIG_INVALID" });
  }
});
