import { asJsonObject, type JsonObject } from "../json.ts";
import { joinPath } from "../json_path.ts";
import { nearestNames } from "../nearest_names.ts";
import { draftOf } from "../tool_schemas/fits_schema.ts";
import { withoutCostlyPatterns } from "../tool_schemas/without_costly_patterns.ts";
import { type OutputUnit, type Schema, Validator } from "../vendor/cfworker_json_schema.js";

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
 *
 * @returns Every problem found, at most five; empty when the arguments fit.
 * @throws Error when the schema itself cannot be used, for example a remote `$ref`.
 */
export function findArgumentProblems(schema: JsonObject, args: JsonObject): ArgumentProblem[] {
  const checked = withoutCostlyPatterns(schema, args) as Schema;
  const validator = new Validator(checked, draftOf(schema), false);
  const { valid, errors } = validator.validate(args);
  if (valid) return [];
  const telling = errors.filter((error) => !WRAPPERS.has(error.keyword) && !isSaidBetter(error));
  const problems = (telling.length > 0 ? telling : errors).map((unit) => toProblem(unit, schema));
  const byPlace = new Map(problems.map((item) => [`${item.path} ${item.message}`, item]));
  return [...byPlace.values()].slice(0, MAX_PROBLEMS);

  /** A pattern beside a format says the same in a form that nobody reads. */
  function isSaidBetter({ keyword, instanceLocation }: OutputUnit): boolean {
    return keyword === "pattern" &&
      errors.some((other) =>
        other.keyword === "format" && other.instanceLocation === instanceLocation
      );
  }
}

function toProblem(unit: OutputUnit, schema: JsonObject): ArgumentProblem {
  const path = toJsonPath(unit.instanceLocation);
  const name = lastSegment(unit.instanceLocation);
  // `additionalProperties: false` and property schemas of `false` are reported at the property.
  const isUnknown = /additionalProperties|unevaluatedProperties/.test(unit.keywordLocation) ||
    unit.keyword === "false";
  if (isUnknown && name !== undefined) {
    const nearest = nearestNames(name, Object.keys(propertiesAt(schema, unit.instanceLocation)));
    return { path, message: `the argument '${name}' does not exist`, nearest };
  }
  const missing = /required property "(.+)"/.exec(unit.error)?.[1];
  if (missing !== undefined) {
    return { path: joinPath(path, missing), message: "it is required and missing", nearest: [] };
  }
  const message = unit.error.replace(/^Instance/, "the value").replace(/\.$/, "");
  return { path, message, nearest: [] };
}

/** `#/a/b~1c/0` → `$.a["b/c"][0]`. */
function toJsonPath(pointer: string): string {
  return segmentsOf(pointer).reduce(joinPath, "$");
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
