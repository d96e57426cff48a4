import assert from "node:assert/strict";
import type { JsonObject } from "../../../../../platform/values/json.ts";
import { headerAnnotationProblem } from "./header_annotations.ts";

const problemOf = (properties: JsonObject, more: JsonObject = {}) =>
  headerAnnotationProblem({ type: "object", properties, ...more });

Deno.test("arguments of simple types can be mirrored into headers, nested ones too", () => {
  assert.equal(problemOf({ region: { type: "string", "x-mcp-header": "Region" } }), null);
  const inner = { type: "object", properties: { n: { type: "integer", "x-mcp-header": "N" } } };
  assert.equal(problemOf({ inner }), null);
  assert.equal(problemOf({}, { default: { "x-mcp-header": "data" } }), null);
});

Deno.test("a tool with an impossible header is dropped", () => {
  for (const header of ["", "My Region", "Region:1", "Région", "Region\t1", 7, null]) {
    const region = { type: "string", "x-mcp-header": header };
    assert.match(problemOf({ region }) ?? "", /^region: x-mcp-header is not a valid header name/);
  }
  for (const type of ["number", "object", "array", "null", ["string", "null"]]) {
    assert.match(problemOf({ a: { type, "x-mcp-header": "A" } }) ?? "", /strings, integers/);
  }
  const same = { a: { type: "string", "x-mcp-header": "A" } };
  assert.match(problemOf({ ...same, b: { type: "string", "x-mcp-header": "a" } }) ?? "", /twice/);
  const item = { type: "string", "x-mcp-header": "A" };
  assert.match(problemOf({ list: { type: "array", items: item } }) ?? "", /'items'/);
  assert.match(problemOf({}, { anyOf: [{ properties: same }] }) ?? "", /'anyOf'/);
});
