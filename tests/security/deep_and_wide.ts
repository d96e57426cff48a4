import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../shared/platform/values/json.ts";
import { MAX_JSON_DEPTH } from "../../shared/platform/values/json_depth.ts";

/** Most of a request's megabyte, of its 50,000 items and of its 20,000 members. */
const CHARACTERS = 900_000;
const ITEMS = 49_000;
const MEMBERS = 19_000;
/** Levels that leave some for what the value is part of. */
const LEVELS = MAX_JSON_DEPTH - 4;

const many = <T>(count: number, itemOf: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => itemOf(at));
const texts = (part: string) => part.repeat(Math.floor(CHARACTERS / part.length));

/** Puts a value below levels of lists, or of objects with a name. */
function nested(value: JsonValue, levels: number, name?: string): JsonValue {
  return levels === 0
    ? value
    : nested(name === undefined ? [value] : { [name]: value }, levels - 1, name);
}

/** Values that a text of them could multiply, each within the limits of a request. */
export const GROWING_VALUES: Readonly<Record<string, JsonValue>> = {
  "deep and wide lists": nested(many(ITEMS, () => 0), LEVELS - 1),
  "deep and wide objects": nested(
    Object.fromEntries(many(MEMBERS, (at) => [`k${at}`, 0])),
    LEVELS - 1,
    "a",
  ),
  "deep and wide objects with long names": nested(
    many(ITEMS, () => 0),
    LEVELS - 1,
    "n".repeat(10_000),
  ),
  "many deep lists": many(Math.floor(ITEMS / LEVELS), () => nested(0, LEVELS - 1)),
  "many keys": Object.fromEntries(many(MEMBERS, (at) => [`key ${at} with a name`, true])),
  "long keys": Object.fromEntries(many(14, (at) => [`${at}${"n".repeat(60_000)}`, 1])),
  "quotes": { text: texts('"').slice(0, CHARACTERS / 2) },
  "backslashes": { text: texts("\\").slice(0, CHARACTERS / 2) },
  "line breaks": { text: texts("\n").slice(0, CHARACTERS / 2) },
  "control characters": { text: texts("\u0001").slice(0, CHARACTERS / 6) },
  "halves of characters": { text: texts("\ud83d").slice(0, CHARACTERS / 6) },
  "emoji": { text: texts("😀") },
  "Markdown": { text: texts("|*_<&`#") },
  "fences": { text: texts("</untrusted_data>") },
  "long numbers": many(2_500, (at) => -1.2345678901234567e300 - at * 1e290),
  "numbers near zero": many(2_500, () => 5e-324),
  "empty lists": many(ITEMS, () => []),
};

/** The same as an object, which arguments and answers are. */
export function objectOf(value: JsonValue): JsonObject {
  return isJsonObject(value) ? value : { value };
}
