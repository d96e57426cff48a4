import assert from "node:assert/strict";
import type { JsonObject } from "../../platform/values/json.ts";
import { onlyDeclared } from "./only_declared.ts";

function sent(schema: JsonObject, args: JsonObject): JsonObject {
  return onlyDeclared(args, schema).arguments;
}

const A = { type: "string" };

Deno.test("onlyDeclared() removes undeclared members at every level", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      a: A,
      inner: { type: "object", properties: { a: A } },
      rows: { type: "array", items: { $ref: "#/$defs/row" } },
    },
    $defs: { row: { properties: { a: A }, additionalProperties: false } },
  };
  const args = {
    a: "x",
    isAdmin: true,
    inner: { a: "x", role: "admin" },
    rows: [{ a: "x", b: 1 }, { a: "y" }],
  };

  assert.deepEqual(onlyDeclared(args, schema), {
    arguments: { a: "x", inner: { a: "x" }, rows: [{ a: "x" }, { a: "y" }] },
    dropped: ["$.isAdmin", "$.inner.role", "$.rows[0].b"],
    droppedCount: 3,
  });
});

Deno.test("onlyDeclared() keeps everything that a schema allows", () => {
  const args = { a: "x", "x-b": { c: 1 } };
  const open: JsonObject[] = [
    {},
    { type: "object" },
    { properties: { a: A }, additionalProperties: true },
    { properties: { a: A }, additionalProperties: { type: "object" } },
    { properties: { a: A }, unevaluatedProperties: {} },
    { properties: { a: A }, patternProperties: { "^x-": {} } },
    { properties: { a: A }, propertyNames: { pattern: "^[a-z-]+$" } },
    { properties: { a: A }, allOf: [{ properties: { "x-b": { type: "object" } } }] },
    { properties: { a: A }, anyOf: [{ required: ["x-b"] }] },
    { anyOf: [{ properties: { a: A } }, { type: "object" }] },
    { $ref: "#/$defs/x", $defs: { x: { properties: { a: A, "x-b": {} } } } },
    { if: { required: ["a"] }, then: { properties: { "x-b": {} } }, properties: { a: A } },
  ];
  for (const schema of open) assert.deepEqual(sent(schema, args), args, JSON.stringify(schema));
});

Deno.test("onlyDeclared() drops `__proto__` like any other name, and terminates for recursive schemas", () => {
  const schema: JsonObject = {
    properties: { next: { $ref: "#" }, a: A },
    anyOf: [{ $ref: "#" }, { $ref: "#" }],
  };
  const args = JSON.parse(`{"a":"x","__proto__":{"b":1},"next":{"next":{"a":"y","c":1}}}`);

  assert.deepEqual(sent(schema, args), { a: "x", next: { next: { a: "y" } } });
});

Deno.test("onlyDeclared() names a few of many members in a bounded text", () => {
  const args = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, number) => [`${"n".repeat(500)}${number}`, 1]),
  );
  const { arguments: kept, dropped, droppedCount } = onlyDeclared(args, { properties: { a: A } });

  assert.deepEqual([kept, droppedCount, dropped.length], [{}, 20_000, 10]);
  assert.ok(dropped.join().length < 3_000);
});
