import { z } from "../../vendor/zod.js";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/** Any JSON value. For text that was parsed as JSON, where only `undefined` must be rejected. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined, "is missing");

/** A JSON object, for text that was parsed as JSON. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, "must be an object");

/** JSON Schema of what a model or a person enters, without keywords that only a validator needs. */
export function toInputSchema(schema: z.ZodType): JsonObject {
  return toSchema(schema, "input");
}

/** JSON Schema of a parsed value, in the same form. */
export function toOutputSchema(schema: z.ZodType): JsonObject {
  return toSchema(schema, "output");
}

function toSchema(schema: z.ZodType, io: "input" | "output"): JsonObject {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === jsonObject) jsonSchema.type = "object";
    },
  });
  // zod answers with a plain JSON document.
  return inputSchema as JsonObject;
}
