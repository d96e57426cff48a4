import type { JsonValue } from "../../platform/values/json.ts";

/** A parameter of a statement as the driver accepts it. */
export type StatementParameter = string | number | boolean | null | DocumentParameter;

/**
 * An object or a list as a parameter. For a parameter of type `json` or `jsonb`, the driver
 * requests its JSON. For other types, an object is sent as JSON text, and a list in PostgreSQL's
 * text form of an array.
 */
export class DocumentParameter {
  constructor(readonly value: Exclude<JsonValue, string | number | boolean | null>) {}

  toJSON(): JsonValue {
    return this.value;
  }

  toString(): string {
    return Array.isArray(this.value) ? arrayText(this.value) : JSON.stringify(this.value);
  }
}

/** For example `{1,NULL,"a, b"}`; nested lists become further dimensions. */
function arrayText(list: readonly JsonValue[]): string {
  return `{${list.map(elementText).join(",")}}`;
}

function elementText(value: JsonValue): string {
  if (value === null) return "NULL";
  if (Array.isArray(value)) return arrayText(value);
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  // Of a text of quotes, replaceAll takes ten times as long.
  return `"${text.split("\\").join("\\\\").split('"').join('\\"')}"`;
}
