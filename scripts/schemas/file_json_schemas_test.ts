import assert from "node:assert/strict";
import { fileJsonSchemas } from "./file_json_schemas.ts";

Deno.test("an optional boolean of a file says what applies when it is omitted", () => {
  for (const [name, text] of Object.entries(fileJsonSchemas())) {
    assert.deepEqual(unclearBooleans(JSON.parse(text)), [], name);
  }
});

/** Names of optional boolean members without a default or a description of it. */
function unclearBooleans(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties = {}, required = [] } = schema as {
    properties?: Record<
      string,
      { type?: string; const?: boolean; default?: boolean; description?: string }
    >;
    required?: string[];
  };
  const own = Object.entries(properties).flatMap(([name, member]) =>
    member.type === "boolean" && member.const === undefined && !required.includes(name) &&
      member.default === undefined &&
      !member.description?.startsWith("Omitted: ")
      ? [name]
      : []
  );
  return [...own, ...Object.values(schema).flatMap(unclearBooleans)];
}
