import { isJsonObject, type JsonValue } from "./json.ts";
import { ownMember } from "./own_member.ts";

/** The names in a JSON Pointer (RFC 6901): `/a~1b/0` → `a/b` and `0`. */
export function pointerNames(pointer: string): string[] {
  return pointer.split("/").slice(1).map(unescaped);
}

/**
 * The names in a pointer that is the fragment of an address, where they may be percent-encoded:
 * `#/a%20b/0` → `a b` and `0`.
 */
export function fragmentNames(fragment: string): string[] {
  return fragment.split("/").slice(1).map((name) => unescaped(decoded(name)));
}

/** The value at a path of names; undefined if there is none. */
export function valueAt(root: JsonValue, names: readonly string[]): JsonValue | undefined {
  return names.reduce<JsonValue | undefined>((value, name) => {
    if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined;
    return isJsonObject(value) ? ownMember(value, name) : undefined;
  }, root);
}

/** A part of an address without percent-encoding; as it is, if its encoding is wrong. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function unescaped(name: string): string {
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}
