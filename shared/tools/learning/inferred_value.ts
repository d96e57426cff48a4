import { asJsonObject, type JsonObject, type JsonValue } from "../../json.ts";

/** A value for a missing argument, read out of the request that the task was made for. */
export interface InferredValue {
  readonly parameter: string;
  readonly value: JsonValue;
}

/** A value that is mentioned later than this is not looked for. */
const MAX_REQUEST_CHARACTERS = 50_000;
/** Values of a list that are looked for, and how long one may be. */
const MAX_LISTED_VALUES = 100;
const MAX_LISTED_CHARACTERS = 200;

// Each pattern begins where nothing that it repeats can stand before it, or repeats it a few times
// only: matching takes time in proportion to the request.
const EMAIL =
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;
const URL_TEXT = /https?:\/\/[^\s"'<>]+[^\s"'<>.,;:!?)]/g;
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
const DATE = /\b\d{4}-\d\d-\d\d\b/g;
const NUMBER = /(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)/g;
const QUOTED = /"([^"]{1,200})"|“([^”]{1,200})”|'([^'\n]{1,200})'(?!\w)/g;

/**
 * Finds the value of the first required argument that is missing, when the request holds exactly
 * one that fits its type; two candidates are no inference.
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
