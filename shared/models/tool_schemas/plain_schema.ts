import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { joinPath } from "../../platform/values/json_path.ts";
import { ReferenceIndex, type ReferenceTarget } from "./reference_index.ts";
import { unusableSchema } from "./schema_error.ts";
import { hasRules, type KeywordForm, KEYWORDS, SILENT_KEYWORDS } from "./schema_keywords.ts";
import type { ReportLoss } from "./schema_loss.ts";
import { simplify } from "./simplify.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";

/**
 * Deeper or larger schemas are rejected: they are attacks or mistakes, and models cannot use them.
 */
const MAX_DEPTH = 32;
const MAX_SCHEMAS = 10_000;
/** Maximum length of a list of values that is sent to a model with every call. */
const MAX_ENUM_CHARACTERS = 20_000;

/** A schema that matches nothing, as an object. */
const NEVER: JsonObject = { not: {} };

/**
 * Rewrites a schema of any draft as a self-contained JSON Schema 2020-12: references are inlined,
 * recursive schemas are cut, and sums are merged where that is exact.
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID` for a remote or dangling reference, or a schema that is
 * too deep or too large.
 */
export function toPlainSchema(original: JsonObject, report: ReportLoss): JsonObject {
  const index = new ReferenceIndex(original);
  const count = { schemas: 0 };
  return plain(original, { index, count, report, base: index.base, open: [], depth: 0, path: "$" });
}

interface Place {
  readonly index: ReferenceIndex;
  readonly count: { schemas: number };
  readonly report: ReportLoss;
  readonly base: string;
  /** References being resolved, for finding cycles. */
  readonly open: readonly string[];
  readonly depth: number;
  readonly path: string;
}

function plain(source: JsonValue, place: Place): JsonObject {
  if (source === true) return {};
  if (!isJsonObject(source)) return NEVER;
  if (place.depth > MAX_DEPTH) {
    throw unusableSchema(`it is nested deeper than ${MAX_DEPTH} levels`);
  }
  if (++place.count.schemas > MAX_SCHEMAS) {
    throw unusableSchema(`it holds more than ${MAX_SCHEMAS} schemas`);
  }
  const base = place.index.baseOf(source, place.base);
  const deeper = { ...place, base, depth: place.depth + 1 };
  const own = Object.fromEntries(
    Object.entries(modernize(source)).flatMap(([keyword, value]) =>
      plainEntry(keyword, value, deeper)
    ),
  );
  const referred = [source.$ref, source.$dynamicRef, source.$recursiveRef]
    .filter((reference) => typeof reference === "string")
    .map((reference) => plainTarget(place.index.find(reference, base), deeper));
  return simplify(referred.reduce(beside, own));
}

/** A reference with other keywords: both apply. */
function beside(own: JsonObject, target: JsonObject): JsonObject {
  if (!hasRules(own)) return { ...target, ...own };
  return { ...own, allOf: [...Array.isArray(own.allOf) ? own.allOf : [], target] };
}

function plainTarget(target: ReferenceTarget, place: Place): JsonObject {
  const { address, schema, base } = target;
  if (!place.open.includes(address)) {
    return plain(schema, { ...place, base, open: [...place.open, address] });
  }
  place.report({ path: place.path, keyword: "$ref", action: "cut" });
  const type = isJsonObject(schema) ? schema.type : undefined;
  const description = `Nested again, as at ${address.replace(/^[^#]*/, "") || "the root"}.`;
  return typeof type === "string" ? { type, description } : { description };
}

function plainEntry(keyword: string, value: JsonValue, place: Place): [string, JsonValue][] {
  if (SILENT_KEYWORDS.has(keyword)) return [];
  const known = KEYWORDS.get(keyword);
  if (known?.isValid(value) !== true) {
    place.report({ path: place.path, keyword, action: "removed" });
    return [];
  }
  if (keyword === "enum" && JSON.stringify(value).length > MAX_ENUM_CHARACTERS) {
    place.report({ path: place.path, keyword, action: "described" });
    return shortened(value as readonly JsonValue[]);
  }
  return [[keyword, plainValue(known.form, keyword, value, place)]];
}

function plainValue(form: KeywordForm, keyword: string, value: JsonValue, place: Place): JsonValue {
  const inItems = { ...place, path: `${place.path}[*]` };
  switch (form) {
    case "plain":
      return value;
    case "schema":
      return plain(value, keyword === "contains" ? inItems : place);
    case "schema_or_boolean":
      if (typeof value === "boolean") return value;
      return plain(value, {
        ...place,
        path: /items/i.test(keyword) ? inItems.path : `${place.path}.*`,
      });
    case "schema_list":
      return (value as readonly JsonValue[]).map((item, position) =>
        plain(item, keyword === "prefixItems" ? at(place, String(position)) : place)
      );
    case "schema_map":
      return Object.fromEntries(
        Object.entries(value as JsonObject).map(([name, item]) => [
          name,
          plain(item, keyword === "dependentSchemas" ? place : at(place, name)),
        ]),
      );
  }
}

function at(place: Place, name: string): Place {
  return { ...place, path: joinPath(place.path, name) };
}

/** A list that is too long to send is replaced by its type and examples. */
function shortened(values: readonly JsonValue[]): [string, JsonValue][] {
  const examples = values.slice(0, 20);
  const types = new Set(values.map((value) => typeof value));
  return [
    ...(types.size === 1 && types.has("string") ? [["type", "string"]] as [string, string][] : []),
    ["examples", examples],
    ["title", `One of ${values.length} values, such as the examples`],
  ];
}

/** Rewrites keywords of earlier JSON Schema drafts in the form of 2020-12. */
function modernize(schema: JsonObject): JsonObject {
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
