import type { Json, JsonSchema } from "../../../client/mod.ts";

/** Nested parts of an example are edited as JSON. */
const MAX_DEPTH = 6;

/**
 * A schema that matches the given values, so that a form can be derived from them. Nothing in it is
 * required and more fields may be added: examples show what was sent, not what is allowed.
 */
export function schemaOfExamples(examples: readonly Json[], depth = 0): JsonSchema {
  const given = examples.filter((example) => example !== null);
  if (given.length === 0 || depth > MAX_DEPTH) return {};
  const kinds = new Set(given.map(kindOf));
  if (kinds.size > 1) return {};
  switch ([...kinds][0]) {
    case "object":
      return objectSchema(given as { [key: string]: Json }[], depth);
    case "array":
      return { type: "array", items: schemaOfExamples((given as Json[][]).flat(), depth + 1) };
    case "string":
      // A text that was long once may be long again.
      return { type: "string", ...(given.some(isLong) ? { maxLength: 1_000_000 } : {}) };
    case "number":
      return { type: "number" };
    default:
      return { type: "boolean" };
  }
}

function objectSchema(examples: readonly { [key: string]: Json }[], depth: number): JsonSchema {
  const names = [...new Set(examples.flatMap((example) => Object.keys(example)))];
  const properties = names.map((name) => {
    const values = examples.flatMap((example) => {
      const value = example[name];
      return value === undefined ? [] : [value];
    });
    return [name, schemaOfExamples(values, depth + 1)] as const;
  });
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    // Any type of value, chosen when it is added.
    additionalProperties: {
      anyOf: [
        { title: "Text", type: "string" },
        { title: "Number", type: "number" },
        { title: "Yes or no", type: "boolean" },
        { title: "JSON" },
      ],
    },
  };
}

function kindOf(value: Json): string {
  return Array.isArray(value) ? "array" : typeof value;
}

function isLong(value: Json): boolean {
  return typeof value === "string" && (value.length > 120 || value.includes("\n"));
}
