import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../../../platform/values/json.ts";
import { DATA_KEYWORDS } from "../../../../../models/tool_schemas/schema_keywords.ts";

const KEYWORD = "x-mcp-header";
/** A token as defined by RFC 9110: the characters allowed in a header's name. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MIRRORED_TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/**
 * The problem with the header annotations of a tool's schema; null if there is none. The protocol
 * requires clients to ignore a tool with an invalid annotation.
 */
export function headerAnnotationProblem(inputSchema: JsonObject): string | null {
  const names = new Set<string>();
  return visitProperties(inputSchema, names);
}

function visitProperties(schema: JsonObject, names: Set<string>): string | null {
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === KEYWORD || DATA_KEYWORDS.has(keyword)) continue;
    const problem = keyword === "properties" && isJsonObject(value)
      ? visitEach(value, names)
      : hasAnnotation(value)
      ? `${KEYWORD} is inside '${keyword}', where it cannot be resolved to an argument`
      : null;
    if (problem !== null) return problem;
  }
  return null;
}

function visitEach(properties: JsonObject, names: Set<string>): string | null {
  for (const [name, property] of Object.entries(properties)) {
    if (!isJsonObject(property)) continue;
    const problem = KEYWORD in property ? annotationProblem(property, names) : null;
    if (problem !== null) return `${name}: ${problem}`;
    const inner = visitProperties(property, names);
    if (inner !== null) return inner;
  }
  return null;
}

function annotationProblem(property: JsonObject, names: Set<string>): string | null {
  const { [KEYWORD]: header, type } = property;
  if (typeof header !== "string" || !HEADER_NAME.test(header)) {
    return `${KEYWORD} is not a valid header name`;
  }
  if (!MIRRORED_TYPES.has(type)) {
    return `${KEYWORD} is only allowed for strings, integers and booleans`;
  }
  const key = header.toLowerCase();
  if (names.has(key)) return `${KEYWORD} '${header}' is used twice`;
  names.add(key);
  return null;
}

function hasAnnotation(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasAnnotation);
  if (!isJsonObject(value)) return false;
  return KEYWORD in value ||
    Object.entries(value).some(([key, inner]) => !DATA_KEYWORDS.has(key) && hasAnnotation(inner));
}
