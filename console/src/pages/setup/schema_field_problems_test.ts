import { expect, test } from "vitest";
import { schemaFieldProblems } from "./schema_field_problems.ts";

test("a schema by which nothing can be checked is a problem of its field", () => {
  const problems = schemaFieldProblems({
    input_schema: { properties: { day: { pattern: "[" } } },
    output_schema: { type: "string" },
    config: { parameters: { $ref: "https://example.com/a.json" } },
  });

  expect(problems.map(({ path }) => path)).toEqual(["/input_schema", "/config/parameters"]);
  expect(problems[0]?.message).toMatch(/^input_schema\.properties\.day\.pattern: /);
  expect(schemaFieldProblems({ input_schema: "{}" })).toEqual([]);
});
