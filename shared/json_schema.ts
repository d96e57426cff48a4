import { z } from "./vendor/zod.js";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/** Any JSON value. For text that was parsed as JSON, where only `undefined` has to be refused. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined, "is missing");

/** A JSON object, of text that was parsed as JSON. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, "must be an object");
