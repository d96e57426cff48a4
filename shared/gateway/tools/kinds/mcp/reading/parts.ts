import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../../../platform/values/json.ts";
import { ownMember } from "../../../../../platform/values/own_member.ts";

/**
 * Reads one part of what a server sent. Undefined if it cannot be read; inner parts that cannot be
 * read are left out and named in `leftOut`.
 */
export type PartReader = (
  value: JsonValue,
  path: string,
  leftOut: string[],
) => JsonValue | undefined;

/** A text. */
export function text(value: JsonValue): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** True or false. */
export function flag(value: JsonValue): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** Any object; some languages write an empty one as an empty list. */
export function object(value: JsonValue): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  return Array.isArray(value) && value.length === 0 ? {} : undefined;
}

/** One of the values. */
export function choice(...values: readonly JsonValue[]): PartReader {
  return (value) => values.includes(value) ? value : undefined;
}

/** A number within the limits. */
export function numberWithin(min: number, max: number): PartReader {
  return (value) => typeof value === "number" && value >= min && value <= max ? value : undefined;
}

/** A list, also of one item that stands alone. Items that cannot be read are left out. */
export function eachOf(item: PartReader): PartReader {
  return (value, path, leftOut) => {
    if (!Array.isArray(value)) {
      const only = item(value, path, leftOut);
      return only === undefined ? undefined : [only];
    }
    return value.flatMap((entry, index) => {
      const read = readPart(entry, item, `${path}[${index}]`, leftOut);
      return read === undefined ? [] : [read];
    });
  };
}

/** An object whose members are all of one kind. Those that cannot be read are left out. */
export function mapOf(member: PartReader): PartReader {
  return (value, path, leftOut) => {
    const given = object(value);
    if (given === undefined) return undefined;
    const readers = Object.fromEntries(Object.keys(given).map((name) => [name, member]));
    return members(readers)(given, path, leftOut);
  };
}

/** The first items of a longer list. */
export function atMost(count: number, list: PartReader): PartReader {
  return (value, path, leftOut) => {
    const read = list(value, path, leftOut);
    if (!Array.isArray(read) || read.length <= count) return read;
    leftOut.push(`${path} is a list of ${read.length} items, of which ${count} are kept`);
    return read.slice(0, count);
  };
}

/**
 * An object with these members, and others as they are. `null` means an absent member, as
 * serializers of several languages write it.
 *
 * @param required Members without which the object cannot be used.
 */
export function members(
  readers: Readonly<Record<string, PartReader>>,
  required: readonly string[] = [],
): PartReader {
  return (value, path, leftOut) => {
    const given = object(value);
    if (given === undefined) return undefined;
    const read = Object.entries(given).flatMap(([name, member]) => {
      const reader = ownMember(readers, name);
      if (reader === undefined) return [[name, member] as const];
      const kept = readPart(member, reader, path === "" ? name : `${path}.${name}`, leftOut);
      return kept === undefined ? [] : [[name, kept] as const];
    });
    const result: JsonObject = Object.fromEntries(read);
    return required.every((name) => Object.hasOwn(result, name)) ? result : undefined;
  };
}

/** Reads a part that may be absent. Names it if it exists and cannot be read. */
export function readPart(
  value: JsonValue | undefined,
  reader: PartReader,
  path: string,
  leftOut: string[],
): JsonValue | undefined {
  if (value === null || value === undefined) return undefined;
  const read = reader(value, path, leftOut);
  if (read === undefined) leftOut.push(`${path} is ${kindOfPart(value)}`);
  return read;
}

/** What a value is, in words. */
export function kindOfPart(value: JsonValue | undefined): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value.length > 40 ? "a text" : `'${value}'`;
  return typeof value === "object" ? "an object that cannot be used" : String(value);
}
