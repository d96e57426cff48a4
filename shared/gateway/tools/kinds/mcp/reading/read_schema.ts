import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../../../platform/values/json.ts";
import {
  eachOf,
  flag,
  kindOfPart,
  numberWithin,
  object,
  type PartReader,
  readPart,
  text,
} from "./parts.ts";
import { fragmentNames, valueAt } from "../../../../../platform/values/json_pointer.ts";
import { ownMember } from "../../../../../platform/values/own_member.ts";
import { DATA_KEYWORDS } from "../../../../../models/tool_schemas/schema_keywords.ts";

const TYPES: ReadonlySet<JsonValue> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
]);

/** A name of a type, or several; some languages write their own in capitals. */
const type: PartReader = (value, path, leftOut) => {
  if (Array.isArray(value)) {
    const known = eachOf(type)(value, path, leftOut);
    return Array.isArray(known) && known.length > 0 ? known : undefined;
  }
  const name = typeof value === "string" ? value.toLowerCase() : value;
  return TYPES.has(name) ? name : undefined;
};

const schema: PartReader = (value, path, leftOut) => {
  if (typeof value === "boolean") return value;
  const given = object(value);
  return isJsonObject(given) ? readSchema(given, path, leftOut) : undefined;
};

const schemas: PartReader = (value, path, leftOut) => {
  const read = eachOf(schema)(value, path, leftOut);
  return Array.isArray(read) && read.length > 0 ? read : undefined;
};

const schemasByName: PartReader = (value, path, leftOut) => {
  const given = object(value);
  if (!isJsonObject(given)) return undefined;
  // A property whose schema cannot be read accepts any value.
  return Object.fromEntries(
    Object.entries(given).map(([name, member]) => [
      name,
      readPart(member, schema, `${path}.${name}`, leftOut) ?? {},
    ]),
  );
};

const items: PartReader = (value, path, leftOut) =>
  Array.isArray(value) && value.length > 0
    ? schemas(value, path, leftOut)
    : schema(value, path, leftOut);

const names: PartReader = eachOf(text);
const amount = numberWithin(0, Number.MAX_SAFE_INTEGER);
const number = numberWithin(-Number.MAX_VALUE, Number.MAX_VALUE);
/** Draft 4 has `true` here, beside the limit itself. */
const exclusive: PartReader = (value, path, leftOut) => flag(value) ?? number(value, path, leftOut);

const dependencies: PartReader = (value, path, leftOut) => {
  const given = object(value);
  if (!isJsonObject(given)) return undefined;
  const entries = Object.entries(given).flatMap(([name, member]) => {
    const reader = Array.isArray(member) ? names : schema;
    const read = readPart(member, reader, `${path}.${name}`, leftOut);
    return read === undefined ? [] : [[name, read] as const];
  });
  return Object.fromEntries(entries);
};

/** The value of these keywords is any value, so that `null` is one of them. */
const ANY_VALUE: ReadonlySet<string> = new Set(["const", "default"]);

const KEYWORDS: Readonly<Record<string, PartReader>> = {
  $schema: text,
  $id: text,
  $ref: text,
  $anchor: text,
  $comment: text,
  title: text,
  description: text,
  type,
  format: text,
  pattern: text,
  enum: (value) => Array.isArray(value) && value.length > 0 ? value : undefined,
  examples: (value) => Array.isArray(value) ? value : undefined,
  properties: schemasByName,
  patternProperties: schemasByName,
  $defs: schemasByName,
  definitions: schemasByName,
  dependentSchemas: schemasByName,
  dependentRequired: dependencies,
  dependencies,
  required: names,
  additionalProperties: schema,
  unevaluatedProperties: schema,
  propertyNames: schema,
  items,
  additionalItems: schema,
  unevaluatedItems: schema,
  prefixItems: schemas,
  contains: schema,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  if: schema,
  then: schema,
  else: schema,
  minimum: number,
  maximum: number,
  exclusiveMinimum: exclusive,
  exclusiveMaximum: exclusive,
  multipleOf: numberWithin(Number.MIN_VALUE, Number.MAX_VALUE),
  minLength: amount,
  maxLength: amount,
  minItems: amount,
  maxItems: amount,
  uniqueItems: flag,
  minContains: amount,
  maxContains: amount,
  minProperties: amount,
  maxProperties: amount,
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
  nullable: flag,
};

/**
 * A JSON Schema whose keywords have values of their kind; others are left out, so that one of them
 * does not make the tool unusable. The result accepts what the given schema meant, or more.
 */
export function readSchema(given: JsonObject, path: string, leftOut: string[]): JsonObject {
  const read = Object.entries(given).flatMap(([keyword, value]) => {
    const reader = ownMember(KEYWORDS, keyword);
    if (reader === undefined) {
      return value === null && !ANY_VALUE.has(keyword) ? [] : [[keyword, value] as const];
    }
    const kept = readPart(value, reader, `${path}.${keyword}`, leftOut);
    return kept === undefined ? [] : [[keyword, kept] as const];
  });
  return Object.fromEntries(read);
}

/** A schema without references to parts of it that do not exist; there, any value is accepted. */
export function withoutDangling(given: JsonObject, path: string, leftOut: string[]): JsonObject {
  const visit = (part: JsonValue, place: string): JsonValue => {
    if (Array.isArray(part)) {
      return part.map((item: JsonValue, index) => visit(item, `${place}[${index}]`));
    }
    // A schema with its own address resolves references itself.
    if (!isJsonObject(part) || part !== given && typeof part.$id === "string") return part;
    return Object.fromEntries(
      Object.entries(part).flatMap(([keyword, value]) => {
        if (keyword === "$ref" && isDangling(value, given)) {
          leftOut.push(`${place}.$ref is ${kindOfPart(value)}, which does not exist`);
          return [];
        }
        return [[
          keyword,
          DATA_KEYWORDS.has(keyword) ? value : visit(value, `${place}.${keyword}`),
        ]];
      }),
    );
  };
  return visit(given, path) as JsonObject;
}

function isDangling(reference: JsonValue, root: JsonObject): boolean {
  if (typeof reference !== "string" || !reference.startsWith("#/")) return false;
  return valueAt(root, fragmentNames(reference)) === undefined;
}
