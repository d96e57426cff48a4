import { expect, test } from "vitest";
import type { Json } from "../../../client/mod.ts";
import { valueProblems } from "./check_value.ts";
import { fieldKind } from "./read_schema.ts";
import { schemaOfExamples } from "./schema_of_examples.ts";

const EXAMPLES: Json[] = [
  { topic: "queues", words: 300, tags: ["a"], audience: { country: "CH" } },
  { topic: "locks", draft: true, tags: [] },
  { topic: "a\nlong one", words: null },
];

test("schemaOfExamples() matches every example, and values that omit or add fields", () => {
  const schema = schemaOfExamples(EXAMPLES);
  for (const example of [{}, { other: [1] }, ...EXAMPLES.slice(0, 2)]) {
    expect(valueProblems(schema, example)).toEqual([]);
  }
});

test("schemaOfExamples() gives each field the common type of its values", () => {
  const schema = schemaOfExamples(EXAMPLES) as { properties: Record<string, never> };
  const kinds = Object.entries(schema.properties).map((
    [name, part],
  ) => [name, fieldKind(part, schema).kind]);
  expect(kinds).toEqual([
    ["topic", "text"],
    ["words", "number"],
    ["tags", "array"],
    ["audience", "object"],
    ["draft", "boolean"],
  ]);
  expect(fieldKind(schemaOfExamples(["a", 1]), {}).kind).toBe("json");
  expect(fieldKind(schemaOfExamples([]), {}).kind).toBe("json");
});
