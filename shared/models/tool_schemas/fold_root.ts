import { isDeepStrictEqual } from "node:util";
import { definedOnly } from "../../platform/values/defined_only.ts";
import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../platform/values/json.ts";
import { addRule, ruleText } from "./rule_text.ts";
import { unusableSchema } from "./schema_error.ts";
import { isNever, listedValues, namesIn, schemasIn, typesOf } from "./schema_keywords.ts";
import type { ReportLoss } from "./schema_loss.ts";
import { ownMember } from "../../platform/values/own_member.ts";

/** Keywords that no provider accepts at the root of a function's parameters. */
const ROOT_COMBINATORS: readonly string[] = [
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "enum",
  "const",
];

/**
 * Folds a root that is a choice or a sum of several objects into one object: it has all of their
 * properties, requires what all of them require, and describes the rule as text.
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID` if the root is not an object.
 */
export function foldRoot(schema: JsonObject, report: ReportLoss): JsonObject {
  const types = typesOf(schema);
  if (types.length > 0 && !types.includes("object")) {
    throw unusableSchema(`its arguments are ${types.join(" or ")} instead of an object`);
  }
  const folded = foldSchema(schema);
  let { description } = schema;
  for (const keyword of ROOT_COMBINATORS) {
    const value = schema[keyword];
    if (value === undefined || keyword === "then" || keyword === "else") continue;
    report({ path: "$", keyword, action: "folded" });
    description = addRule(description, describeCombinator(keyword, value, schema));
  }
  return { ...folded, ...definedOnly({ description }) };
}

/** One object without combinators that accepts everything that the schema accepts. */
export function foldSchema(schema: JsonObject): JsonObject {
  const own = Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !ROOT_COMBINATORS.includes(keyword)),
  );
  const sum = schemasIn(schema.allOf).map(foldSchema);
  const choices = [schemasIn(schema.anyOf), schemasIn(schema.oneOf)]
    .map((options) => options.filter((option) => !isNever(option)).map(foldSchema));
  const conditional = [schema.then, schema.else].filter(isJsonObject).map(foldSchema);
  const required = new Set([
    ...namesIn(schema.required),
    ...sum.flatMap((part) => namesIn(part.required)),
    ...choices.flatMap(requiredByAll),
  ]);
  const [always, options] = [[own, ...sum], [...choices.flat(), ...conditional]];
  // An object without `properties` accepts any, so an empty list must not be added.
  const isSilent = [...always, ...options].every(({ properties }) => properties === undefined);
  const { additionalProperties: _, ...kept } = own;
  return {
    ...kept,
    type: "object",
    ...(isSilent ? {} : { properties: unite(always, options) }),
    ...(required.size === 0 ? {} : { required: [...required] }),
    ...restOf(own, sum, choices),
  };
}

function requiredByAll(options: readonly JsonObject[]): string[] {
  const [first, ...others] = options.map(({ required }) => namesIn(required));
  return (first ?? []).filter((name) => others.every((names) => names.includes(name)));
}

/**
 * The properties of all parts. A part that always applies describes a property exactly; otherwise
 * the property may match any of its schemas, or anything if one of them is empty.
 */
function unite(always: readonly JsonObject[], options: readonly JsonObject[]): JsonObject {
  const names = new Set([...always, ...options].flatMap((part) => Object.keys(propertiesOf(part))));
  return Object.fromEntries(
    [...names].map((name) => {
      const fixed = describedIn(always, name).find(saysSomething);
      if (fixed !== undefined) return [name, fixed];
      const possible = describedIn(options, name);
      return [name, possible.every(saysSomething) ? uniteValues(distinct(possible)) : {}];
    }),
  );
}

function propertiesOf(schema: JsonObject): JsonObject {
  return asJsonObject(schema.properties);
}

function describedIn(parts: readonly JsonObject[], name: string): JsonObject[] {
  return parts.map(propertiesOf).filter((properties) => Object.hasOwn(properties, name))
    .map((properties) => asJsonObject(properties[name]));
}

function saysSomething(schema: JsonObject): boolean {
  return Object.keys(schema).length > 0;
}

function distinct(schemas: readonly JsonObject[]): JsonObject[] {
  return schemas.filter((schema, index) =>
    schemas.findIndex((other) => isDeepStrictEqual(schema, other)) === index
  );
}

/** Several constants, such as discriminators, become one list. */
function uniteValues(schemas: readonly JsonObject[]): JsonObject {
  const [only = {}, ...others] = schemas;
  if (others.length === 0) return only;
  const lists = schemas.map(listedValues);
  const types = new Set(schemas.map(({ type }) => JSON.stringify(type)));
  if (types.size > 1 || lists.some((list) => list === undefined)) return { anyOf: schemas };
  const { const: _, ...first } = only;
  return { ...first, enum: [...new Set(lists.flatMap((list) => list ?? []))] };
}

/** The schema of other properties: none if every relevant part is closed. */
function restOf(
  own: JsonObject,
  sum: readonly JsonObject[],
  choices: readonly (readonly JsonObject[])[],
): JsonObject {
  const isClosed = (schema: JsonObject) =>
    schema.additionalProperties === false || schema.unevaluatedProperties === false;
  const isAllClosed = (options: readonly JsonObject[]) =>
    options.length > 0 && options.every(isClosed);
  if (isClosed(own) || sum.some(isClosed) || choices.some(isAllClosed)) {
    return { additionalProperties: false };
  }
  const { additionalProperties: rest } = own;
  return rest === undefined ? {} : { additionalProperties: rest };
}

function describeCombinator(keyword: string, value: JsonValue, schema: JsonObject): string {
  switch (keyword) {
    case "anyOf":
      return `Provide at least one of these sets of arguments: ${describeSets(value)}.`;
    case "oneOf":
      return `Provide exactly one of these sets of arguments: ${describeSets(value)}.`;
    case "allOf":
      return `All of these rules apply: ${ruleText(value)}.`;
    case "if":
      return `If the arguments match ${ruleText(value)}, they must also match ` +
        `${ruleText(schema.then ?? true)}; else ${ruleText(schema.else ?? true)}.`;
    case "not":
      return `The arguments must not match ${ruleText(value)}.`;
    default:
      return `The arguments must be one of: ${ruleText(value)}.`;
  }
}

function describeSets(options: JsonValue): string {
  return schemasIn(options).map((option) => {
    const properties = asJsonObject(option.properties);
    const names = namesIn(option.required).map((name) => {
      const value = asJsonObject(ownMember(properties, name)).const;
      return value === undefined ? name : `${name}=${JSON.stringify(value)}`;
    });
    return names.join(", ") || (option.title ?? ruleText(option));
  }).join("; or ");
}
