import { z } from "./vendor/zod.js";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/** Any JSON value. For text that was parsed as JSON, where only `undefined` must be rejected. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined, "is missing");

/** A JSON object, for text that was parsed as JSON. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, "must be an object");
