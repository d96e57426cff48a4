import assert from "node:assert/strict";
import { schemaType } from "./schema_type.ts";

const CASES: [string, unknown, string][] = [
  ["an object with required and optional properties", {
    type: "object",
    properties: { score: { type: "integer" }, "a-b": { type: "string" } },
    required: ["score"],
  }, '{ score: number; "a-b"?: string }'],
  ["a list of choices", { type: "array", items: { enum: ["a", 1, null] } }, '("a" | 1 | null)[]'],
  ["several types", { type: ["string", "null"] }, "string | null"],
  ["alternatives", { anyOf: [{ const: true }, { type: "number" }] }, "true | number"],
  ["a reference", {
    type: "object",
    properties: { who: { $ref: "#/$defs/person" } },
    $defs: { person: { properties: { name: { type: "string" } }, required: ["name"] } },
  }, "{ who?: { name: string } }"],
  [
    "a map",
    { type: "object", additionalProperties: { type: "number" } },
    "{ [name: string]: number }",
  ],
  ["parts that all apply", { allOf: [{ type: "string" }, {}] }, "string"],
  ["a condition on the properties beside them", {
    type: "object",
    properties: { id: { type: "string" }, slug: { type: "string" } },
    anyOf: [{ required: ["id"] }, { required: ["slug"] }],
  }, "{ id?: string; slug?: string }"],
  ["properties beside alternatives", {
    properties: { id: { type: "string" } },
    required: ["id"],
    oneOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } } }],
  }, "({ id: string }) & ({ a?: 1 } | { b?: 2 })"],
  ["a list of names", { type: "array", items: { type: "string" } }, "string[]"],
  ["no statement", {}, "Json"],
  ["an object without properties", { type: "object" }, "JsonObject"],
  [
    "an object that refuses properties",
    { type: "object", additionalProperties: false },
    "Record<string, never>",
  ],
];

for (const [what, schema, type] of CASES) {
  Deno.test(`schemaType() of ${what}`, () => assert.equal(schemaType(schema), type));
}

Deno.test("schemaType() of a schema that contains itself ends where it does", () => {
  const tree = { properties: { left: { $ref: "#" }, right: { $ref: "#" } } };

  assert.equal(
    schemaType(tree),
    "{ left?: { left?: Json; right?: Json }; right?: { left?: Json; right?: Json } }",
  );
});

Deno.test("schemaType() of references that double at each level stays small", () => {
  const levels = Array.from({ length: 20 }, (_, level): [string, unknown] => {
    const next = { $ref: `#/$defs/level${level + 1}` };
    return [`level${level}`, { properties: { a: next, b: next } }];
  });

  assert.ok(
    schemaType({ $ref: "#/$defs/level0", $defs: Object.fromEntries(levels) }).length < 200_000,
  );
});
