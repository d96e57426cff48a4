import type { Json } from "../../../shared/db/database.types.ts";
import type { Schema } from "../queries/servers.ts";

/** Deeper parts of an example are written as JSON. */
const MAX_DEPTH = 6;

/**
 * A schema that values like these fit, so that a form can be made of them. Nothing in it is
 * required and more may be added: examples say what has been sent, not what may be.
 */
export function schemaOfExamples(examples: readonly Json[], depth = 0): Schema {
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
      // Whatever was long once may be long again.
      return { type: "string", ...(given.some(isLong) ? { maxLength: 1_000_000 } : {}) };
    case "number":
      return { type: "number" };
    default:
      return { type: "boolean" };
  }
}

function objectSchema(examples: readonly { [key: string]: Json }[], depth: number): Schema {
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
    // Any kind of value, chosen where it is added.
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
