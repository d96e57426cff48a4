import { asJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { ANNOTATIONS, listedValues, typesOf } from "./schema_keywords.ts";
import { typeOf } from "./simplify.ts";

/** The keywords that concern one type only. */
const KEYWORDS_OF: Readonly<Record<string, RegExp>> = {
  string: /^(minLength|maxLength|pattern|format|content\w+)$/,
  number: /^(minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)$/,
  integer: /^(minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)$/,
  array:
    /^(items|prefixItems|contains|minContains|maxContains|minItems|maxItems|uniqueItems|unevaluatedItems)$/,
  object:
    /^(properties|required|additionalProperties|patternProperties|propertyNames|minProperties|maxProperties|dependent\w+|unevaluatedProperties)$/,
};

/**
 * A schema of several types as a choice of schemas of one type each; `[type, "null"]` stays when
 * `keepsNullable`. Returns the same schema if it has one type or its own choice.
 */
export function splitTypes(schema: JsonObject, keepsNullable: boolean): JsonObject {
  const types = typesOf(schema);
  const isNullable = types.length === 2 && types.includes("null");
  if (types.length < 2 || (isNullable && keepsNullable) || schema.anyOf !== undefined) {
    return schema;
  }
  const annotations = Object.entries(schema).filter(([keyword]) => ANNOTATIONS.has(keyword));
  return {
    ...Object.fromEntries(annotations),
    anyOf: types.map((type) => ofType(schema, type)).filter((option) => option !== undefined),
  };
}

/** Undefined if the schema lists values and none has this type. */
function ofType(schema: JsonObject, type: string): JsonObject | undefined {
  const values = listedValues(schema)?.filter((value) => isOfType(value, type));
  if (values?.length === 0) return undefined;
  const elsewhere = Object.entries(KEYWORDS_OF)
    .filter(([other]) => other !== type).map(([, pattern]) => pattern);
  const kept = Object.entries(schema).filter(([keyword]) => {
    if (ANNOTATIONS.has(keyword) || /^(type|enum|const)$/.test(keyword)) return false;
    return KEYWORDS_OF[type]?.test(keyword) === true ||
      !elsewhere.some((pattern) => pattern.test(keyword));
  });
  const [only, ...others] = values ?? [];
  const listed = values === undefined || type === "null"
    ? {}
    : others.length === 0
    ? { const: only ?? null }
    : { enum: values };
  return asJsonObject({ type, ...Object.fromEntries(kept), ...listed });
}

function isOfType(value: JsonValue, type: string): boolean {
  const own = typeOf(value);
  return own === type || (own === "integer" && type === "number");
}
