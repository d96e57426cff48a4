import assert from "node:assert/strict";
import { timed } from "../../../scripts/test/cpu_time.ts";
import { MAX_SCHEMA_CHARACTERS } from "../../models/tool_schemas/max_schema_characters.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { inputProblem } from "./input_problem.ts";

const MAX_CPU_MS = 400;

Deno.test("inputProblem() names at most five parts, each with its path and a suggestion", () => {
  const schema = {
    properties: { city: { enum: ["Bonn", "Ulm"] }, tags: { items: { pattern: "^[a-z]$" } } },
    additionalProperties: false,
  };

  assert.equal(
    inputProblem(schema, { citi: "Bonn" }),
    "input.citi: the member 'citi' does not exist; did you mean 'city'?",
  );
  const problem = inputProblem(schema, { tags: ["A", "a", "B", "C", "D", "E", "F"] });
  assert.match(problem ?? "", /^input\.tags\[0\]: .+; input\.tags\[2\]: /);
  assert.equal(problem?.split("; ").length, 5);
});

Deno.test("inputProblem() allows the files that every agent accepts", () => {
  const schema = { properties: { q: {} }, additionalProperties: false };

  assert.equal(inputProblem(schema, { q: 1, files: ["a/b.pdf"] }), null);
  assert.notEqual(inputProblem({ properties: { files: { type: "string" } } }, { files: [] }), null);
});

Deno.test("a hostile input and the largest schema cost bounded CPU time", () => {
  const many = (count: number, value: JsonValue) => Array.from({ length: count }, () => value);
  const large = { anyOf: many(6_000, { type: "null" }) };
  assert.ok(JSON.stringify(large).length < MAX_SCHEMA_CHARACTERS * 1.5);
  const hostile: readonly (readonly [string, JsonObject, JsonValue])[] = [
    ["alternatives for each item", { items: large }, { a: 1 }],
    ["alternatives for each member", { additionalProperties: large }, {
      x: many(60_000, 1),
      ...Object.fromEntries(many(10_000, 0).map((_, place) => [`k${place}`, place])),
    }],
    ["a pattern on a long text", { properties: { x: { pattern: "(a|a?)+$" } } }, {
      x: "a".repeat(1_000_000),
    }],
    ["unknown names", { properties: {}, additionalProperties: false }, {
      ...Object.fromEntries(many(60_000, 0).map((_, place) => [`k${place}`, place])),
    }],
  ];
  for (const [name, schema, input] of hostile) {
    const { value, cpuMs } = timed(() => inputProblem(schema, input), MAX_CPU_MS);

    assert.ok((value ?? "").length < 3_000, name);
    assert.ok(cpuMs <= MAX_CPU_MS, `${name}: ${cpuMs} ms`);
  }
});
