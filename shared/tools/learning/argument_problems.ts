import { asJsonObject, type JsonObject } from "../../json.ts";
import { joinPath } from "../../json_path.ts";
import { nearestNames } from "../../nearest_names.ts";
import { isNothing } from "../../tool_schemas/metered_schema.ts";
import { validateValue } from "../../tool_schemas/validate_value.ts";
import type { OutputUnit } from "../../vendor/cfworker_json_schema.js";

/** One thing that is wrong with a call's arguments. */
export interface ArgumentProblem {
  /** Where, as a JSON path from the arguments: `$.filter.from`. */
  readonly path: string;
  readonly message: string;
  /** Names that were probably meant instead, best first. */
  readonly nearest: readonly string[];
}

/** Problems beyond these say nothing new. */
const MAX_PROBLEMS = 5;
/** Unknown arguments beyond these are not looked at: what else is wrong does not matter then. */
const MAX_UNKNOWN_ARGUMENTS = 100;
/** Names that a mistaken one is compared with, and how much of one is repeated. */
const MAX_COMPARED_NAMES = 500;
const MAX_SHOWN_CHARACTERS = 200;
/** Keywords that only say that something inside them failed. */
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
 * Checks arguments against a tool's own schema, but for patterns that would take long to match.
 * Takes a bounded number of steps, whatever the schema and the arguments are; what cannot be decided
 * is a problem too.
 *
 * @returns What is wrong, at most five problems; empty when the arguments fit.
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

/** The first unknown arguments of very many, counted no further than that. */
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
  // By place, since a pattern beside a format says the same in a form that nobody reads.
  const formatted = new Set(
    errors.filter(({ keyword }) => keyword === "format").map(placeOf),
  );
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
    return { path: joinPath(path, missing), message: "it is required and missing", nearest: [] };
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

/** The properties declared beside the one that a pointer names, as far as they stand in place. */
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
