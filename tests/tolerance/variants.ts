import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";
import { isJsonObject } from "../../shared/platform/values/json.ts";

/** The members and indexes that lead to a part of a document. */
export type Path = readonly (string | number)[];

/** A document in which one part was changed. */
export interface Variant {
  readonly path: Path;
  /** The change, for example `null` or `absent`. */
  readonly change: string;
  /** The new value of the part; undefined if it is absent. */
  readonly value: JsonValue | undefined;
  readonly document: JsonValue;
}

const HUGE_CHARACTERS = 100_000;
const HUGE_ITEMS = 200;

/** What servers send instead of a value; undefined for an absent member. */
const SENT_INSTEAD: readonly (readonly [string, (value: JsonValue) => JsonValue | undefined])[] = [
  ["absent", () => undefined],
  ["null", () => null],
  ["a text", () => "another"],
  ["a number", () => 7],
  ["true", () => true],
  ["an object", () => ({ another: 1 })],
  ["a list", () => ["another"]],
  ["an empty text", () => ""],
  ["an empty object", () => ({})],
  ["an empty list", () => []],
  ["in a list", (value) => [value]],
  ["as text", (value) => JSON.stringify(value)],
  ["repeated", (value) => Array.isArray(value) ? [...value, ...value] : [value, value]],
  ["huge", () => "x".repeat(HUGE_CHARACTERS)],
  ["a long list", () => Array.from({ length: 1_000 }, () => null)],
];

/** Every part of a document as null, absent, of each other type, empty, repeated and huge. */
export function* variantsOf(document: JsonValue): Generator<Variant> {
  for (const path of pathsOf(document, [])) {
    for (const [change, value] of changesOf(valueAt(document, path))) {
      yield { path, change, value, document: withValue(document, path, value) };
    }
  }
}

/**
 * Every member of a document, but not the document itself, as what servers send instead of it: also
 * in a list, as JSON text, and as a long list of nothing.
 */
export function* memberVariantsOf(document: JsonValue): Generator<Variant> {
  for (const path of pathsOf(document, []).slice(1)) {
    const before = valueAt(document, path);
    for (const [change, instead] of SENT_INSTEAD) {
      const value = instead(before);
      yield { path, change, value, document: withValue(document, path, value) };
    }
  }
}

/** The texts of a document outside a path, by which its parts are recognized. */
export function textsBeside(document: JsonValue, path: Path): string[] {
  return pathsOf(document, []).filter((other) => !isWithin(other, path))
    .map((other) => valueAt(document, other))
    .filter((value) => typeof value === "string" && value.startsWith(MARK)) as string[];
}

function isWithin(path: Path, outer: Path): boolean {
  return outer.every((part, index) => path[index] === part);
}

/** Begins each text that {@linkcode exampleOf} makes up. */
const MARK = "mark:";

/**
 * A document that a JSON Schema allows, with every optional member and each alternative of a list's
 * items. Free texts say where they stand.
 */
export function exampleOf(
  schema: JsonObject,
  path: Path = [],
  root: JsonObject = schema,
): JsonValue {
  const at = (next: JsonValue | undefined, ...parts: Path) =>
    exampleOf(isJsonObject(next) ? next : {}, [...path, ...parts], root);
  const { $ref, anyOf, oneOf, allOf, type } = schema;
  if (typeof $ref === "string") return at(resolve($ref, root));
  const [alternative] = alternativesOf(schema);
  if (anyOf !== undefined || oneOf !== undefined) return at(alternative);
  if (Array.isArray(allOf)) {
    return Object.assign({}, ...allOf.map((part: JsonValue) => at(part))) as JsonObject;
  }
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  switch (type) {
    case "string":
      return textOf(schema, path);
    case "number":
    case "integer":
      return typeof schema.maximum === "number" && schema.maximum <= 1 ? 0.5 : 7;
    case "boolean":
      return true;
    case "array": {
      const items = isJsonObject(schema.items) ? schema.items : {};
      return alternativesOf(resolved(items, root)).map((item, index) => at(item, index));
    }
    case "object": {
      const { properties, additionalProperties } = schema;
      const known = Object.entries(isJsonObject(properties) ? properties : {});
      if (known.length > 0) {
        return Object.fromEntries(known.map(([name, member]) => [name, at(member, name)]));
      }
      return { any: isJsonObject(additionalProperties) ? at(additionalProperties, "any") : 1 };
    }
    default:
      return { any: `${MARK}${path.join(".")}` };
  }
}

function textOf({ format, contentEncoding }: JsonObject, path: Path): string {
  if (format === "date-time") return "2026-07-28T10:00:00Z";
  if (format === "uri") return "https://mark.example/";
  if (
    contentEncoding === "base64" || format === "base64" || /^(data|blob)$/.test(String(path.at(-1)))
  ) {
    return btoa(path.join("."));
  }
  return `${MARK}${path.join(".")}`;
}

function alternativesOf(schema: JsonObject): JsonObject[] {
  const { anyOf, oneOf } = schema;
  const given = anyOf ?? oneOf;
  return Array.isArray(given) ? given.filter(isJsonObject) : [schema];
}

function resolved(schema: JsonObject, root: JsonObject): JsonObject {
  return typeof schema.$ref === "string" ? resolve(schema.$ref, root) : schema;
}

function resolve(reference: string, root: JsonObject): JsonObject {
  const found = reference.split("/").slice(1).reduce<JsonValue | undefined>(
    (value, name) => isJsonObject(value) ? value[name] : undefined,
    root,
  );
  return isJsonObject(found) ? found : {};
}

function pathsOf(value: JsonValue, path: Path): Path[] {
  const inner = Array.isArray(value)
    ? value.flatMap((item: JsonValue, index) => pathsOf(item, [...path, index]))
    : isJsonObject(value)
    ? Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]))
    : [];
  return [path, ...inner];
}

function valueAt(document: JsonValue, path: Path): JsonValue {
  return path.reduce<JsonValue>(
    (value, part) => (value as Record<string | number, JsonValue>)[part] ?? null,
    document,
  );
}

function withValue(document: JsonValue, path: Path, value: JsonValue | undefined): JsonValue {
  const [part, ...rest] = path;
  if (part === undefined) return value ?? null;
  const copy = (Array.isArray(document) ? [...document] : { ...document as JsonObject }) as Record<
    string | number,
    JsonValue
  >;
  if (rest.length > 0) copy[part] = withValue(copy[part] ?? null, rest, value);
  else if (value !== undefined) copy[part] = value;
  else if (Array.isArray(copy)) copy.splice(Number(part), 1);
  else delete copy[part];
  return copy as JsonValue;
}

function changesOf(value: JsonValue): [string, JsonValue | undefined][] {
  const kind = Array.isArray(value) ? "list" : typeof value;
  const others: [string, JsonValue][] = [
    ["string", "changed"],
    ["number", 17],
    ["boolean", false],
    ["list", ["changed"]],
    ["object", { changed: 17 }],
  ];
  return [
    ["null", null],
    ["absent", undefined],
    ...others.filter(([other]) => other !== kind),
    ["empty text", ""],
    ["empty list", []],
    ["empty object", {}],
    ["repeated", [value, value]],
    ["huge", hugeOf(value)],
  ];
}

function hugeOf(value: JsonValue): JsonValue {
  if (typeof value === "number") return 1e308;
  if (Array.isArray(value)) return Array.from({ length: HUGE_ITEMS }, () => value).flat();
  if (isJsonObject(value)) {
    const members = Array.from({ length: HUGE_ITEMS }, (_, index) => [`more${index}`, index]);
    return { ...value, ...Object.fromEntries(members) };
  }
  return "x".repeat(HUGE_CHARACTERS);
}
