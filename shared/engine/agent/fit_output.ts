import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { RESULT_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../platform/json/parse_json.ts";
import { validateValue } from "../../models/tool_schemas/validate_value.ts";

/** A result and the schema it must match. */
export type OutputFit =
  | { readonly kind: "fits"; readonly output: JsonValue }
  | { readonly kind: "misfits"; readonly issues: readonly string[] }
  /** The schema itself cannot be used. */
  | { readonly kind: "undecided"; readonly reason: string };

/** The maximum number of problems in one correction. */
const MAX_ISSUES = 10;

/** Keywords that only say that something inside them is wrong. */
const APPLICATORS = [
  "$ref",
  "properties",
  "items",
  "prefixItems",
  "additionalItems",
  "allOf",
  "patternProperties",
  "if",
];

/**
 * Checks a result against its schema. A text that does not match is also parsed as JSON, with or
 * without a code fence, because models tend to write objects that way.
 */
export function fitOutput(value: JsonValue, schema: JsonObject): OutputFit {
  const validation = validateValue(value, schema);
  if (validation.kind === "valid") return { kind: "fits", output: value };
  if (validation.kind === "undecided") return validation;
  const parsed = typeof value === "string" ? parseFenced(value) : undefined;
  if (parsed !== undefined && typeof parsed !== "string") return fitOutput(parsed, schema);
  const telling = validation.errors.filter(({ keyword }) => !APPLICATORS.includes(keyword));
  const issues = (telling.length > 0 ? telling : validation.errors)
    .map(({ instanceLocation, error }) => `${toPath(instanceLocation)}: ${error}`);
  return { kind: "misfits", issues: [...new Set(issues)].slice(0, MAX_ISSUES) };
}

/**
 * The schema of an object whose property `name` fits `schema`: references inside the schema stay
 * valid.
 */
export function schemaOfProperty(name: string, schema: JsonObject): JsonObject {
  const prefix = `#/properties/${name}`;
  return {
    type: "object",
    properties: { [name]: withReferencesBelow(prefix, schema) },
    required: [name],
    additionalProperties: false,
  };
}

function withReferencesBelow(prefix: string, schema: JsonObject): JsonObject {
  const move = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(move);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const isLocal = key === "$ref" && typeof item === "string" && /^#(\/|$)/.test(item);
        return [key, isLocal ? `${prefix}${item.slice(1)}` : move(item)];
      }),
    );
  };
  const { $schema: _, $id: __, ...own } = schema;
  return move(own) as JsonObject;
}

function parseFenced(text: string): JsonValue | undefined {
  const fenced = /^```(?:json)?[^\S\n]*\n([\s\S]*)```$/.exec(text.trim());
  return parseJsonOrUndefined(fenced?.[1] ?? text, RESULT_LIMITS);
}

function toPath(instanceLocation: string): string {
  const path = instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".");
  return path === "" ? "the output" : path;
}
