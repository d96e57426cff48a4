import { asJsonObject, type JsonObject, type JsonValue } from "../../../platform/values/json.ts";

/** A value for a missing argument, found in the task's original request. */
export interface InferredValue {
  readonly parameter: string;
  readonly value: JsonValue;
}

/** Values are searched only up to this position. */
const MAX_REQUEST_CHARACTERS = 50_000;
/** Maximum number of list values that are searched, and maximum length of one. */
const MAX_LISTED_VALUES = 100;
const MAX_LISTED_CHARACTERS = 200;

// The patterns are anchored or have bounded repetitions, so that matching takes linear time.
const EMAIL =
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;
const URL_TEXT = /https?:\/\/[^\s"'<>]+[^\s"'<>.,;:!?)]/g;
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
const DATE = /\b\d{4}-\d\d-\d\d\b/g;
const NUMBER = /(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)/g;
const QUOTED = /"([^"]{1,200})"|“([^”]{1,200})”|'([^'\n]{1,200})'(?!\w)/g;

/**
 * Finds the value of the first missing required argument if the request contains exactly one value
 * of its type; two candidates are ambiguous.
 */
export function inferMissingValue(
  inputSchema: JsonObject,
  args: JsonObject,
  wholeRequest: string,
): InferredValue | undefined {
  const request = wholeRequest.slice(0, MAX_REQUEST_CHARACTERS);
  const properties = asJsonObject(inputSchema.properties);
  const required = Array.isArray(inputSchema.required) ? inputSchema.required : [];
  for (const parameter of required) {
    if (typeof parameter !== "string" || Object.hasOwn(args, parameter)) continue;
    const [value, ...others] = candidates(parameter, asJsonObject(properties[parameter]), request);
    return value === undefined || others.length > 0 ? undefined : { parameter, value };
  }
  return undefined;
}

function candidates(parameter: string, schema: JsonObject, request: string): JsonValue[] {
  if (Array.isArray(schema.enum)) {
    return schema.enum.slice(0, MAX_LISTED_VALUES)
      .filter((value: JsonValue) => mentions(request, String(value)));
  }
  if (schema.type === "number") return distinct(matches(request, NUMBER)).map(Number);
  if (schema.type === "integer") {
    return distinct(matches(request, NUMBER)).map(Number).filter(Number.isInteger);
  }
  if (schema.type !== "string") return [];
  const pattern = patternFor(`${parameter} ${schema.format ?? ""}`);
  if (pattern !== undefined) return distinct(matches(request, pattern));
  return distinct([QUOTED, EMAIL, URL_TEXT, UUID].flatMap((any) => matches(request, any)));
}

/** By the argument's name or format. */
function patternFor(hint: string): RegExp | undefined {
  if (/e-?mail/i.test(hint)) return EMAIL;
  if (/ur[il]\b|link/i.test(hint)) return URL_TEXT;
  if (/uuid/i.test(hint)) return UUID;
  if (/date\b(?!-time)/i.test(hint)) return DATE;
  return undefined;
}

function matches(request: string, pattern: RegExp): string[] {
  return [...request.matchAll(pattern)].map((match) =>
    match.slice(1).find((group) => group !== undefined) ?? match[0]
  );
}

function mentions(request: string, value: string): boolean {
  if (value.length > MAX_LISTED_CHARACTERS) return false;
  const escaped = value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, "iu").test(request);
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}
