import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../platform/values/json.ts";
import { joinPath } from "../../../platform/values/json_path.ts";
import { NameHints } from "../../../platform/values/nearest_names.ts";
import { isNothing } from "../../../models/tool_schemas/metered_schema.ts";
import { validateValue } from "../../../models/tool_schemas/validate_value.ts";
import type { OutputUnit } from "../../../vendor/cfworker_json_schema.js";
import { fragmentNames } from "../../../platform/values/json_pointer.ts";
import { ownMember } from "../../../platform/values/own_member.ts";
import { beginningOf } from "../../../platform/values/beginning_of.ts";

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

/** What messages call a value and its parts. */
interface ValueNames {
  /** The first part of every path. */
  readonly root: string;
  /** The value as a whole, in the plural. */
  readonly whole: string;
  /** A member of it. */
  readonly member: string;
}

const ARGUMENTS: ValueNames = { root: "$", whole: "arguments", member: "argument" };

/**
 * Checks arguments, or another value, against their schema in a bounded number of steps. An
 * undecidable case is reported as a problem.
 *
 * @returns At most five problems; empty if the value matches.
 */
export function findArgumentProblems(
  schema: JsonObject,
  args: JsonValue,
  names: ValueNames = ARGUMENTS,
): ArgumentProblem[] {
  const hints = new NameHints();
  const unknown = manyUnknownArguments(schema, args, names, hints);
  if (unknown !== null) return unknown;
  const validation = validateValue(args, schema);
  switch (validation.kind) {
    case "valid":
      return [];
    case "undecided":
      return [{
        path: names.root,
        message: `the ${names.whole} cannot be checked: ${validation.reason}`,
        nearest: [],
      }];
    case "invalid":
      return tellingProblems(validation.errors, schema, names, hints);
  }
}

/** The first unknown arguments if there are very many. */
function manyUnknownArguments(
  schema: JsonObject,
  args: JsonValue,
  names: ValueNames,
  hints: NameHints,
): ArgumentProblem[] | null {
  const { additionalProperties, patternProperties } = schema;
  if (additionalProperties !== false || patternProperties !== undefined) return null;
  if (!isJsonObject(args)) return null;
  const properties = asJsonObject(schema.properties);
  const unknown: string[] = [];
  for (const name in args) {
    if (Object.hasOwn(properties, name)) continue;
    unknown.push(name);
    if (unknown.length > MAX_UNKNOWN_ARGUMENTS) {
      const message = `more than ${MAX_UNKNOWN_ARGUMENTS} ${names.member}s do not exist`;
      return [
        { path: names.root, message, nearest: [] },
        ...unknown.slice(0, MAX_PROBLEMS - 1).map((name) =>
          unknownMember(joinPath(names.root, shown(name)), name, properties, names, hints)
        ),
      ];
    }
  }
  return null;
}

function tellingProblems(
  errors: readonly OutputUnit[],
  schema: JsonObject,
  names: ValueNames,
  hints: NameHints,
): ArgumentProblem[] {
  // One per position, because a pattern next to a format repeats the same problem less readably.
  const formatted = new Set(errors.filter(({ keyword }) => keyword === "format").map(placeOf));
  const isTelling = (unit: OutputUnit) =>
    !WRAPPERS.has(unit.keyword) && !(unit.keyword === "pattern" && formatted.has(placeOf(unit)));
  const hasTelling = errors.some(isTelling);
  const problems = new Map<string, ArgumentProblem>();
  for (const unit of errors) {
    if (problems.size === MAX_PROBLEMS) break;
    if (hasTelling && !isTelling(unit)) continue;
    const problem = toProblem(unit, schema, names, hints);
    problems.set(`${problem.path} ${problem.message}`, problem);
  }
  return [...problems.values()];
}

function placeOf({ instanceLocation }: OutputUnit): string {
  return instanceLocation;
}

function toProblem(
  unit: OutputUnit,
  schema: JsonObject,
  names: ValueNames,
  hints: NameHints,
): ArgumentProblem {
  const path = toJsonPath(unit.instanceLocation, names.root);
  const name = lastSegment(unit.instanceLocation);
  // `additionalProperties: false` and property schemas of `false` are reported at the property.
  const isUnknown = /additionalProperties|unevaluatedProperties/.test(unit.keywordLocation) ||
    isNothing(unit);
  if (isUnknown && name !== undefined) {
    return unknownMember(path, name, propertiesAt(schema, unit.instanceLocation), names, hints);
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

function unknownMember(
  path: string,
  name: string,
  properties: JsonObject,
  { member }: ValueNames,
  hints: NameHints,
): ArgumentProblem {
  const known = Object.keys(properties).slice(0, MAX_COMPARED_NAMES);
  const nearest = hints.nearest(name, known).map(shown);
  return { path, message: `the ${member} '${shown(name)}' does not exist`, nearest };
}

function shown(text: string): string {
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${beginningOf(text, MAX_SHOWN_CHARACTERS)}…`;
}

/** `#/a/b~1c/0` → `$.a["b/c"][0]`. */
function toJsonPath(pointer: string, root: string): string {
  return fragmentNames(pointer).map(shown).reduce(joinPath, root);
}

function lastSegment(pointer: string): string | undefined {
  return fragmentNames(pointer).at(-1);
}

/** The properties declared next to the one at a pointer, without following references. */
function propertiesAt(schema: JsonObject, pointer: string): JsonObject {
  let current: JsonObject = schema;
  for (const segment of fragmentNames(pointer).slice(0, -1)) {
    const properties = asJsonObject(current.properties);
    current = asJsonObject(ownMember(properties, segment) ?? current.items);
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
