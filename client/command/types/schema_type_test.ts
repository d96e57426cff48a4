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
  ["parts that all apply", { allOf: [{ type: "string" }, {}] }, "(string) & (Json)"],
  ["no statement", {}, "Json"],
  ["an object without properties", { type: "object" }, "JsonObject"],
];

for (const [what, schema, type] of CASES) {
  Deno.test(`schemaType() of ${what}`, () => assert.equal(schemaType(schema), type));
}

Deno.test("schemaType() of a schema that contains itself ends", () => {
  const tree = { properties: { left: { $ref: "#" } } };

  assert.match(schemaType(tree), /^\{ left\?: .*Json.*\}$/);
});
