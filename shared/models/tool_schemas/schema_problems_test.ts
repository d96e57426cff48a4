import assert from "node:assert/strict";
import { timed } from "../../../scripts/test/cpu_time.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { findSchemaProblems, schemaProblemText } from "./schema_problems.ts";

const MAX_CPU_MS = 400;
const DRAFT = (name: string) => `https://json-schema.org/${name}/schema`;
const nested = (levels: number): JsonObject =>
  Array.from({ length: levels }).reduce<JsonObject>((items) => ({ items }), {});

/** The path of the first problem; null if there is none. */
function pathOf(schema: JsonObject): string | null {
  const [first] = findSchemaProblems(schema);
  return first === undefined ? null : first.at.join(".");
}

Deno.test("a schema that cannot be checked is refused at the part that is wrong", () => {
  const refused: readonly (readonly [string, JsonObject])[] = [
    ["properties.a.$ref", { properties: { a: { $ref: "#/$defs/nothing" } }, $defs: { b: {} } }],
    ["$defs.a/b.$ref", { $defs: { "a/b": { $ref: "#no-anchor" } } }],
    ["items.$ref", { items: { $ref: "https://example.com/order.json" } }],
    ["not.$ref", { not: { $ref: "order.json#/definitions/a" } }],
    ["if.$ref", { if: { $ref: 5 } }],
    ["then.$dynamicRef", { then: { $dynamicRef: "#node" } }],
    ["$schema", { $schema: "https://example.com/own-draft" }],
    ["$schema", { $schema: "http://json-schema.org/draft-03/schema#" }],
    ["$schema", { $schema: 7 }],
    ["properties.a.pattern", { properties: { a: { pattern: "[a-" } } }],
    ["anyOf.1.pattern", { anyOf: [{}, { pattern: "(a)\\1" }] }],
    ["pattern", { pattern: 5 }],
    ["patternProperties.(", { patternProperties: { "(": {} } }],
    ["oneOf", { oneOf: [] }],
    ["oneOf.0.multipleOf", { oneOf: [{ multipleOf: 0 }] }],
    ["items.uniqueItems", { items: { uniqueItems: "yes" } }],
    ["contains.minContains", { contains: { minContains: -1 } }],
    ["dependentRequired", { dependentRequired: { a: "b" } }],
    ["dependencies", { dependencies: { a: 5 } }],
    ["dependencies.a.type", { dependencies: { a: { type: "objekt" } } }],
    ["additionalItems.enum", { additionalItems: { enum: [] } }],
    ["prefixItems.0.required", { prefixItems: [{ required: true }] }],
    ["items.1.format", { items: [{}, { format: 1 }] }],
    ["properties", { properties: ["a"] }],
    ["exclusiveMinimum", { exclusiveMinimum: true, minimum: 1 }],
    ["exclusiveMaximum", { $schema: DRAFT("draft-04"), exclusiveMaximum: 5 }],
    ["", { $ref: "#" }],
    ["", { $id: "https://a.example", $defs: { a: { $id: "x" }, b: { $id: "x" } } }],
    ["", { enum: ["a".repeat(100_001)] }],
    ["", nested(70)],
  ];
  for (const [path, schema] of refused) {
    assert.equal(pathOf(schema), path, JSON.stringify(schema).slice(0, 200));
  }
});

Deno.test("a schema whose every part can be checked has no problem", () => {
  const usable: readonly JsonObject[] = [
    {},
    { type: "object", properties: { a: { $ref: "#/$defs/b" } }, $defs: { b: { type: "string" } } },
    { $ref: "#tree", $defs: { t: { $anchor: "tree", items: { $ref: "#tree" } } } },
    { $ref: "b.json", $defs: { b: { $id: "b.json", type: "number" } } },
    { $schema: "http://json-schema.org/draft-07/schema#", items: [{}, true], additionalItems: {} },
    { $schema: "http://json-schema.org/draft-04/schema#", minimum: 1, exclusiveMinimum: true },
    { $schema: DRAFT("draft/2020-12"), prefixItems: [true], unevaluatedItems: false },
    { items: [] },
    { format: "credit-card", "x-own": { type: 5 }, nullable: true },
    { examples: { a: 1 }, default: { $ref: "#/none" }, const: { $ref: "#/none" } },
    { enum: [{ $ref: "#/none" }], description: "Any" },
    { pattern: "^(?=.*\\d)[\\p{L}\\d]{8,}$" },
    { dependencies: { a: ["b"], c: { required: ["d"] } }, dependentRequired: { a: [] } },
    { if: { properties: { a: { const: 1 } } }, then: false, else: true },
    nested(60),
  ];
  for (const schema of usable) {
    assert.deepEqual(findSchemaProblems(schema), [], JSON.stringify(schema).slice(0, 200));
  }
});

Deno.test("a problem says what is wrong and what would be right", () => {
  const [first, ...others] = findSchemaProblems({
    properties: { "a b": { multipleOf: 0 }, c: { type: "objekt" } },
  });

  assert.ok(first !== undefined);
  assert.equal(
    schemaProblemText("schema", first),
    'schema.properties["a b"].multipleOf: 0 must be a number above zero',
  );
  assert.equal(others.length, 1);
});

Deno.test("the search of problems takes bounded time", () => {
  const many = (count: number, value: JsonValue) => Array.from({ length: count }, () => value);
  const hostile: readonly (readonly [string, JsonObject])[] = [
    ["patterns", {
      allOf: many(1_500, 0).map((_, place) => ({ pattern: `(a{1,900}){1,5}${place}` })),
    }],
    ["branches", {
      $ref: "#/$defs/a",
      $defs: {
        a: { allOf: many(400, { $ref: "#/$defs/b" }) },
        b: { allOf: many(400, { $ref: "#/$defs/c" }) },
        c: { allOf: many(400, {}) },
      },
    }],
    ["names", { properties: Object.fromEntries(many(9_000, 0).map((_, at) => [`k${at}`, {}])) }],
    ["dangling", { allOf: many(3_000, { $ref: "#/$defs/nothing" }) }],
  ];
  for (const [name, schema] of hostile) {
    const { value, cpuMs } = timed(() => findSchemaProblems(schema), MAX_CPU_MS);

    assert.ok(value.length <= 5, name);
    assert.ok(cpuMs <= MAX_CPU_MS, `${name}: ${cpuMs} ms`);
  }
});
