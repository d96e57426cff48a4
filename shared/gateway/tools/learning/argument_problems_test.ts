import assert from "node:assert/strict";
import { describeProblems, findArgumentProblems } from "./argument_problems.ts";
import { nearestNames } from "../../../platform/values/nearest_names.ts";

const SCHEMA = {
  type: "object",
  properties: {
    path: { type: "string" },
    lines: { type: "integer", minimum: 1 },
    filter: { type: "object", properties: { from: { type: "string", format: "date" } } },
    tags: { type: "array", items: { $ref: "#/$defs/tag" } },
  },
  required: ["path"],
  additionalProperties: false,
  $defs: { tag: { enum: ["a", "b"] } },
};

Deno.test("findArgumentProblems() finds no problem in valid arguments", () => {
  const args = { path: "x", lines: 2, filter: { from: "2026-01-01" }, tags: ["a"] };

  assert.deepEqual(findArgumentProblems(SCHEMA, args), []);
});

Deno.test("findArgumentProblems() returns the path of every problem", () => {
  const problems = findArgumentProblems(SCHEMA, {
    lines: 0,
    filter: { from: "yesterday" },
    tags: ["a", "c"],
  });

  assert.deepEqual(problems.map(({ path }) => path).sort(), [
    "$.filter.from",
    "$.lines",
    "$.path",
    "$.tags[1]",
  ]);
});

Deno.test("findArgumentProblems() suggests the nearest name for an unknown one", () => {
  const text = describeProblems(findArgumentProblems(SCHEMA, { path: "x", line: 3 }));

  assert.equal(text, "$.line: the argument 'line' does not exist; did you mean 'lines'?");
});

Deno.test("findArgumentProblems() reports an invalid id once, without the pattern of ids", () => {
  const id = { type: "string", format: "uuid", pattern: "^[0-9a-f-]{36}$" };
  const schema = { type: "object", properties: { id } };

  const problems = findArgumentProblems(schema, { id: "none" });
  assert.equal(describeProblems(problems), '$.id: String does not match format "uuid"');
});

Deno.test("nearestNames() ignores case, separators and typing errors", () => {
  const known = ["searchValue", "read_file", "write_file", "limit"];

  assert.deepEqual(nearestNames("search_value", known), ["searchValue"]);
  assert.deepEqual(nearestNames("readfile", known)[0], "read_file");
  assert.deepEqual(nearestNames("limti", known), ["limit"]);
  assert.deepEqual(nearestNames("colour", known), []);
});
