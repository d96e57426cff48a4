import type { z } from "../../vendor/zod.js";
import { toOutputSchema } from "../../platform/values/json_schema.ts";
import { isJsonObject, type JsonValue } from "../../platform/values/json.ts";
import { yamlProblem } from "../../platform/values/yaml_problem.ts";
import type { ParseYaml } from "../skills/parse_yaml.ts";
import type { ValueProblem } from "./definition.ts";
import { describeFileIssues } from "./file_problems.ts";

/** A read value, or what is wrong with its text. */
export type ReadResult<T> =
  | { readonly kind: "read"; readonly value: T }
  | { readonly kind: "invalid"; readonly problems: readonly ValueProblem[] };

/** Reads YAML that has to match a schema. Never throws. */
export function readYaml<T>(
  text: string,
  schema: z.ZodType<T>,
  parseYaml: ParseYaml,
): ReadResult<T> {
  let data: unknown;
  try {
    data = parseYaml(text) ?? {};
  } catch (error) {
    const message = yamlProblem(error);
    return { kind: "invalid", problems: [{ message: `it is not YAML: ${message}` }] };
  }
  return readValue(data, schema);
}

/** Checks data of a file against a schema. Never throws. */
export function readValue<T>(data: unknown, schema: z.ZodType<T>): ReadResult<T> {
  const result = schema.safeParse(data);
  if (result.success) return { kind: "read", value: result.data };
  const document = toOutputSchema(schema);
  return {
    kind: "invalid",
    problems: describeFileIssues(
      result.error.issues,
      data,
      (path) => keysAt(document, path, data),
    ),
  };
}

/** The keys that a JSON Schema declares at a path of a value. */
export function keysAt(
  document: JsonValue,
  path: readonly PropertyKey[],
  value: unknown,
): string[] {
  let at: JsonValue | undefined = document;
  let actual = value;
  for (const step of path) {
    at = childOf(alternativeFor(at, actual), step);
    actual = typeof actual === "object" && actual !== null ? Reflect.get(actual, step) : undefined;
  }
  const found = alternativeFor(at, actual);
  return isJsonObject(found) && isJsonObject(found.properties) ? Object.keys(found.properties) : [];
}

function childOf(schema: JsonValue | undefined, step: PropertyKey): JsonValue | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { properties, items, additionalProperties } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, String(step))) {
    return properties[String(step)];
  }
  return typeof step === "number" ? items : additionalProperties;
}

/** Of alternatives, the one with the value's type, else the first with properties. */
function alternativeFor(schema: JsonValue | undefined, value: unknown): JsonValue | undefined {
  if (!isJsonObject(schema)) return schema;
  const alternatives = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (alternatives === undefined) return schema;
  const type = typeof value === "object" && value !== null ? Reflect.get(value, "type") : undefined;
  const isOfType = (one: JsonValue) =>
    isJsonObject(one) && isJsonObject(one.properties) && isJsonObject(one.properties.type) &&
    [one.properties.type.const, one.properties.type.enum].flat().includes(type);
  return alternatives.find(isOfType) ??
    alternatives.find((one) => isJsonObject(one) && isJsonObject(one.properties));
}
