import type { JsonValue } from "../../json.ts";

/** A parameter of a statement as the driver accepts it. */
export type StatementParameter = string | number | boolean | null | DocumentParameter;

/**
 * An object or a list: its own JSON where the parameter is `json` or `jsonb`, which the driver asks
 * for; else an object is its JSON as text, and a list PostgreSQL's text of an array.
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

/** `{1,NULL,"a, b"}`; lists within a list are its further dimensions. */
function arrayText(list: readonly JsonValue[]): string {
  return `{${list.map(elementText).join(",")}}`;
}

function elementText(value: JsonValue): string {
  if (value === null) return "NULL";
  if (Array.isArray(value)) return arrayText(value);
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
