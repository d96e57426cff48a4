import { isJsonObject, type JsonValue } from "./json.ts";

/**
 * The value as canonical JSON, which is the same for equal values: members sorted by name, no
 * spaces.
 */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort().flatMap((name) => {
    const member = value[name];
    return member === undefined ? [] : [`${JSON.stringify(name)}:${canonicalJson(member)}`];
  });
  return `{${members.join(",")}}`;
}
