import { isJsonObject, type JsonObject, type JsonValue } from "../../../json.ts";

const KEYWORD = "x-mcp-header";
/** A token as RFC 9110 has it: the only characters that a header's name may hold. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MIRRORED_TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
/** Keywords whose value is data, in which nothing is an annotation. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);

/**
 * What is wrong with the headers that a tool's schema wants arguments mirrored into; null: nothing.
 * The protocol takes a tool with a wrong one for no tool at all.
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
      ? `${KEYWORD} stands in '${keyword}', where an argument cannot be found`
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
    return `${KEYWORD} is no name of a header`;
  }
  if (!MIRRORED_TYPES.has(type)) return `${KEYWORD} is for strings, integers and booleans alone`;
  const key = header.toLowerCase();
  if (names.has(key)) return `${KEYWORD} '${header}' is there twice`;
  names.add(key);
  return null;
}

function hasAnnotation(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasAnnotation);
  if (!isJsonObject(value)) return false;
  return KEYWORD in value ||
    Object.entries(value).some(([key, inner]) => !DATA_KEYWORDS.has(key) && hasAnnotation(inner));
}
