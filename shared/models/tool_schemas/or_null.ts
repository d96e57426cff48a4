import { definedOnly } from "../../platform/values/defined_only.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { listedValues, schemasIn, typesOf } from "./schema_keywords.ts";

/** Whether a schema explicitly accepts null. */
export function acceptsNull(schema: JsonObject): boolean {
  if (schema.anyOf !== undefined) return schemasIn(schema.anyOf).some(acceptsNull);
  const values = listedValues(schema);
  return typesOf(schema).includes("null") && (values === undefined || values.includes(null));
}

/** The same schema, but also accepting null. */
export function orNull(schema: JsonObject): JsonObject {
  const { description, anyOf, ...rules } = schema;
  const about = definedOnly({ description });
  if (anyOf !== undefined && Object.keys(rules).length === 0) {
    return { ...about, anyOf: [...schemasIn(anyOf), { type: "null" }] };
  }
  const { const: only, enum: _, ...rest } = rules;
  const isScalar = typeof rules.type === "string" && !["object", "array"].includes(rules.type);
  if (!isScalar || anyOf !== undefined) {
    const { description: __, ...whole } = schema;
    return { ...about, anyOf: [whole, { type: "null" }] };
  }
  const values = listedValues(only === undefined ? rules : { const: only });
  return {
    ...about,
    ...rest,
    type: [String(rules.type), "null"],
    ...(values === undefined ? {} : { enum: [...values, null] }),
  };
}
