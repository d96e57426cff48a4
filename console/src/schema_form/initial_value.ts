import type { Json } from "../../../shared/db/database.types.ts";
import type { Schema } from "../queries/servers.ts";
import { defaultOf, fieldKind, resolveSchema } from "./read_schema.ts";

/** Required parts of required parts; a schema that requires itself has no value at all. */
const MAX_DEPTH = 24;

/**
 * What a form begins with: whatever the schema leaves no choice about. Texts and numbers stay
 * absent until somebody writes them, because an invented value would be sent unseen.
 */
export function initialValue(schema: Schema, root: Schema, depth = 0): Json | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const given = defaultOf(schema, root);
  if (given !== undefined) return structuredClone(given);
  const field = fieldKind(schema, root);
  switch (field.kind) {
    case "const":
      return structuredClone(field.value);
    case "enum":
      return field.values.length === 1 ? structuredClone(field.values[0]) : undefined;
    case "boolean":
      return false;
    case "null":
      return null;
    case "array":
      return initialItems(schema, root, { items: field.items, depth });
    case "object": {
      const entries = field.required.flatMap((name): [string, Json][] => {
        const value = initialValue(field.properties[name] ?? field.others, root, depth + 1);
        return value === undefined ? [] : [[name, value]];
      });
      return Object.fromEntries(entries);
    }
    case "variants":
      return initialValue(field.variants[0] ?? true, root, depth + 1);
    case "text":
    case "number":
    case "json":
      return undefined;
  }
}

function initialItems(
  schema: Schema,
  root: Schema,
  { items, depth }: { readonly items: Schema; readonly depth: number },
): Json {
  const { minItems } = resolveSchema(schema, root) as { minItems?: unknown };
  const count = typeof minItems === "number" ? Math.min(minItems, 20) : 0;
  const values: Json[] = [];
  for (let index = 0; index < count; index++) {
    const value = initialValue(items, root, depth + 1);
    if (value !== undefined) values.push(value);
  }
  return values;
}
