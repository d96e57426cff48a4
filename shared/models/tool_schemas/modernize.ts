import { definedOnly } from "../../platform/values/defined_only.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";

/** Rewrites keywords of earlier JSON Schema drafts in the form of 2020-12. */
export function modernize(schema: JsonObject): JsonObject {
  const { additionalItems, dependencies, ...rest } = schema;
  const lists: JsonObject = Array.isArray(rest.items)
    ? {
      ...(rest.items.length === 0 ? {} : { prefixItems: rest.items }),
      ...definedOnly({ items: additionalItems }),
    }
    : rest.items === undefined
    ? {}
    : { items: rest.items };
  const { items: _, ...others } = rest;
  return { ...bounds(others), ...lists, ...dependents(dependencies) };
}

/** Draft 4: `exclusiveMinimum: true` made `minimum` exclusive. */
function bounds(schema: JsonObject): JsonObject {
  const result: Record<string, JsonValue> = { ...schema };
  for (const [exclusive, inclusive] of BOUNDS) {
    if (typeof schema[exclusive] !== "boolean") continue;
    delete result[exclusive];
    if (schema[exclusive] !== true || schema[inclusive] === undefined) continue;
    result[exclusive] = schema[inclusive];
    delete result[inclusive];
  }
  return result;
}

const BOUNDS = [["exclusiveMinimum", "minimum"], ["exclusiveMaximum", "maximum"]] as const;

function dependents(dependencies: JsonValue | undefined): JsonObject {
  if (!isJsonObject(dependencies)) return {};
  const entries = Object.entries(dependencies);
  const required = entries.filter(([, value]) => Array.isArray(value));
  const schemas = entries.filter(([, value]) => !Array.isArray(value));
  return {
    ...(required.length === 0 ? {} : { dependentRequired: Object.fromEntries(required) }),
    ...(schemas.length === 0 ? {} : { dependentSchemas: Object.fromEntries(schemas) }),
  };
}
