import { asJsonObject, type JsonObject } from "../../../platform/values/json.ts";
import { joinPath } from "../../../platform/values/json_path.ts";
import { nearestNames } from "../../../platform/values/nearest_names.ts";
import { isNothing } from "../../../models/tool_schemas/metered_schema.ts";
import { validateValue } from "../../../models/tool_schemas/validate_value.ts";
import type { OutputUnit } from "../../../vendor/cfworker_json_schema.js";

/** One problem of a call's arguments. */
export interface ArgumentProblem {
  /** Position as a JSON path from the arguments: `$.filter.from`. */
  readonly path: string;
  readonly message: string;
  /** Suggested names, best first. */
  readonly nearest: readonly string[];
}

const MAX_PROBLEMS = 5;
/** Maximum number of examined unknown arguments; other problems do not matter then. */
const MAX_UNKNOWN_ARGUMENTS = 100;
/** Maximum number of names compared with a wrong one, and maximum length of a quoted name. */
const MAX_COMPARED_NAMES = 500;
const MAX_SHOWN_CHARACTERS = 200;
/** Keywords whose error only says that something inside them failed. */
const WRAPPERS: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "prefixItems",
  "additionalItems",
  "additionalProperties",
  "unevaluatedProperties",
  "$ref",
  "allOf",
  "dependentSchemas",
  "patternProperties",
]);

/**
 * Checks arguments against a tool's own schema in a bounded number of steps. An undecidable case is
 * reported as a problem.
 *
 * @returns At most five problems; empty if the arguments match.
 */
export function findArgumentProblems(schema: JsonObject, args: JsonObject): ArgumentProblem[] {
  const unknown = manyUnknownArguments(schema, args);
  if (unknown !== null) return unknown;
  const validation = validateValue(args, schema);
  switch (validation.kind) {
    case "valid":
      return [];
    case "undecided":
      return [{
        path: "$",
        message: `the arguments cannot be checked: ${validation.reason}`,
        nearest: [],
      }];
    case "invalid":
      return tellingProblems(validation.errors, schema);
  }
}

/** The first unknown arguments if there are very many. */
function manyUnknownArguments(schema: JsonObject, args: JsonObject): ArgumentProblem[] | null {
  const { additionalProperties, patternProperties } = schema;
  if (additionalProperties !== false || patternProperties !== undefined) return null;
  const properties = asJsonObject(schema.properties);
  const unknown: string[] = [];
  for (const name in args) {
    if (Object.hasOwn(properties, name)) continue;
    unknown.push(name);
    if (unknown.length > MAX_UNKNOWN_ARGUMENTS) {
      const message = `more than ${MAX_UNKNOWN_ARGUMENTS} arguments do not exist`;
      return [
        { path: "$", message, nearest: [] },
        ...unknown.slice(0, MAX_PROBLEMS - 1).map((name) =>
          unknownArgument(joinPath("$", shown(name)), name, properties)
        ),
      ];
    }
  }
  return null;
}

function tellingProblems(errors: readonly OutputUnit[], schema: JsonObject): ArgumentProblem[] {
  // One per position, because a pattern next to a format repeats the same problem less readably.
  const formatted = new Set(errors.filter(({ keyword }) => keyword === "format").map(placeOf));
  const isTelling = (unit: OutputUnit) =>
    !WRAPPERS.has(unit.keyword) && !(unit.keyword === "pattern" && formatted.has(placeOf(unit)));
  const hasTelling = errors.some(isTelling);
  const problems = new Map<string, ArgumentProblem>();
  for (const unit of errors) {
    if (problems.size === MAX_PROBLEMS) break;
    if (hasTelling && !isTelling(unit)) continue;
    const problem = toProblem(unit, schema);
    problems.set(`${problem.path} ${problem.message}`, problem);
  }
  return [...problems.values()];
}

function placeOf({ instanceLocation }: OutputUnit): string {
  return instanceLocation;
}

function toProblem(unit: OutputUnit, schema: JsonObject): ArgumentProblem {
  const path = toJsonPath(unit.instanceLocation);
  const name = lastSegment(unit.instanceLocation);
  // `additionalProperties: false` and property schemas of `false` are reported at the property.
  const isUnknown = /additionalProperties|unevaluatedProperties/.test(unit.keywordLocation) ||
    isNothing(unit);
  if (isUnknown && name !== undefined) {
    return unknownArgument(path, name, propertiesAt(schema, unit.instanceLocation));
  }
  const missing = unit.keyword === "required"
    ? /required property "(.+)"/.exec(unit.error)?.[1]
    : undefined;
  if (missing !== undefined) {
    return { path: joinPath(path, missing), message: "it is required but missing", nearest: [] };
  }
  const message = shown(unit.error.replace(/^Instance/, "the value").replace(/\.$/, ""));
  return { path, message, nearest: [] };
}

function unknownArgument(path: string, name: string, properties: JsonObject): ArgumentProblem {
  const known = Object.keys(properties).slice(0, MAX_COMPARED_NAMES);
  const nearest = nearestNames(name, known).map(shown);
  return { path, message: `the argument '${shown(name)}' does not exist`, nearest };
}

function shown(text: string): string {
  return text.length <= MAX_SHOWN_CHARACTERS
    ? text
    : `${text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()}…`;
}

/** `#/a/b~1c/0` → `$.a["b/c"][0]`. */
function toJsonPath(pointer: string): string {
  return segmentsOf(pointer).map(shown).reduce(joinPath, "$");
}

function segmentsOf(pointer: string): string[] {
  return pointer.split("/").slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function lastSegment(pointer: string): string | undefined {
  return segmentsOf(pointer).at(-1);
}

/** The properties declared next to the one at a pointer, without following references. */
function propertiesAt(schema: JsonObject, pointer: string): JsonObject {
  let current: JsonObject = schema;
  for (const segment of segmentsOf(pointer).slice(0, -1)) {
    const properties = asJsonObject(current.properties);
    current = asJsonObject(properties[segment] ?? current.items);
  }
  return asJsonObject(current.properties);
}

/** The problems as one text for a model. */
export function describeProblems(problems: readonly ArgumentProblem[]): string {
  return problems.map(({ path, message, nearest }) => {
    const meant = nearest.length === 0 ? "" : `; did you mean ${nearest.map(quote).join(" or ")}?`;
    return `${path}: ${message}${meant}`;
  }).join("\n");
}

function quote(name: string): string {
  return `'${name}'`;
}
