import type { Json, JsonSchema } from "../../../client/mod.ts";
import { defaultOf, fieldKind, resolveSchema } from "./read_schema.ts";

/** Depth of required parts; a schema that requires itself has no value. */
const MAX_DEPTH = 8;
/** Maximum number of visited parts: two schemas that require themselves would create millions. */
const MAX_PARTS = 200;
const MAX_ITEMS = 20;

/**
 * The initial value of a form: everything that the schema determines. Text and numbers stay
 * absent until the user enters them, because an invented value could be sent unnoticed.
 */
export function initialValue(schema: JsonSchema, root: JsonSchema): Json | undefined {
  return initialPart(schema, { root, depth: 0, budget: { parts: MAX_PARTS } });
}

interface Place {
  readonly root: JsonSchema;
  readonly depth: number;
  readonly budget: { parts: number };
}

function initialPart(schema: JsonSchema, place: Place): Json | undefined {
  const { root, depth, budget } = place;
  if (depth > MAX_DEPTH || budget.parts-- <= 0) return undefined;
  const inner = { ...place, depth: depth + 1 };
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
      return initialItems(schema, field.items, inner);
    case "object": {
      const entries = field.required.flatMap((name): [string, Json][] => {
        const declared = Object.hasOwn(field.properties, name);
        const value = initialPart(declared ? field.properties[name] ?? true : field.others, inner);
        return value === undefined ? [] : [[name, value]];
      });
      return Object.fromEntries(entries);
    }
    case "variants":
      return initialPart(field.variants[0] ?? true, inner);
    case "text":
    case "number":
    case "json":
      return undefined;
  }
}

function initialItems(schema: JsonSchema, items: JsonSchema, place: Place): Json {
  const { minItems } = resolveSchema(schema, place.root) as { minItems?: unknown };
  const count = typeof minItems === "number" ? Math.min(minItems, MAX_ITEMS) : 0;
  const values: Json[] = [];
  for (let index = 0; index < count; index++) {
    const value = initialPart(items, place);
    if (value !== undefined) values.push(value);
  }
  return values;
}

/** A new item or named member starts with a value that can be edited. */
export function emptyValue(schema: JsonSchema, root: JsonSchema, depth = 0): Json {
  const kind = fieldKind(schema, root);
  if (kind.kind === "number") return 0;
  if (kind.kind === "enum") return kind.values[0] ?? null;
  // A union starts with its first alternative.
  if (kind.kind === "variants" && depth < MAX_DEPTH) {
    return emptyValue(kind.variants[0] ?? true, root, depth + 1);
  }
  return kind.kind === "text" ? "" : null;
}
