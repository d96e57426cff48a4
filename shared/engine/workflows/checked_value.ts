import { type ErrorCode } from "../../platform/errors/codes.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { byteLength } from "../../platform/values/byte_length.ts";
import { type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { toInputSchema, toOutputSchema } from "../../platform/values/json_schema.ts";
import { toStorableJson } from "../../platform/values/storable_json.ts";
import type { z } from "../../vendor/zod.js";
import { inputProblem } from "../tasks/input_problem.ts";
import type { Schema, StandardSchema } from "./workflow.ts";

/** What a row may hold of one value. */
const MAX_VALUE_BYTES = 1_048_576;

/** The error of a value. */
export interface ValueError {
  readonly code: ErrorCode;
  /** Completes "Cannot …". */
  readonly attempt: string;
}

/**
 * A value in the form in which later runs read it: a date is a text.
 *
 * @throws error.code if it is not JSON or has more than 1 MiB
 */
export function storedValue(value: unknown, { code, attempt }: ValueError): JsonValue {
  let text: string | undefined;
  try {
    text = JSON.stringify(value ?? null);
  } catch (cause) {
    throw new SwarmError(code, `Cannot ${attempt}: its value is no JSON`, { cause });
  }
  if (text === undefined) {
    throw new SwarmError(code, `Cannot ${attempt}: its value is a ${typeof value}`);
  }
  if (byteLength(text) > MAX_VALUE_BYTES) {
    throw new SwarmError(code, `Cannot ${attempt}: its value has more than 1 MiB`, {
      hint: "Store it as a file or in a table, and return where it is.",
    });
  }
  return toStorableJson(JSON.parse(text) as JsonValue);
}

/**
 * Checks a value, and returns it as the schema has parsed it.
 *
 * @throws error.code with the path of what does not match
 */
export async function checkedValue<T>(
  schema: Schema<T> | undefined,
  value: JsonValue,
  { code, attempt }: ValueError,
): Promise<T> {
  if (schema === undefined) return value as T;
  if (!isStandard(schema)) {
    const problem = inputProblem(schema, value);
    if (problem === null) return value as T;
    throw new SwarmError(code, `Cannot ${attempt}: ${problem.replace(/^input/, "its value")}`);
  }
  // The library decides whether it answers with a promise.
  const result = await schema["~standard"].validate(value) as {
    readonly value: T;
    readonly issues?: readonly { readonly message: string; readonly path?: readonly unknown[] }[];
  };
  if (result.issues === undefined) return result.value;
  const problems = result.issues.slice(0, 5)
    .map(({ message, path = [] }) => [...path.map(keyOf), message].join(": "));
  throw new SwarmError(code, `Cannot ${attempt}: ${problems.join("; ")}`);
}

function keyOf(part: unknown): string {
  return String(typeof part === "object" && part !== null && "key" in part ? part.key : part);
}

function isStandard<T>(schema: Schema<T>): schema is StandardSchema<T> {
  return "~standard" in schema;
}

/** The JSON Schema of a schema; null where the library cannot tell it. */
export function jsonSchemaOf(
  schema: Schema | undefined,
  io: "input" | "output",
): JsonObject | null {
  if (schema === undefined) return null;
  if (!isStandard(schema)) return schema;
  // Schemas of zod 4 describe themselves, also those of another copy of it.
  if (!("_zod" in schema)) return null;
  const ofZod = schema as unknown as z.ZodType;
  return io === "input" ? toInputSchema(ofZod) : toOutputSchema(ofZod);
}
