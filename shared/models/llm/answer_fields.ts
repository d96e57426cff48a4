import type { JsonObject, JsonValue } from "../../platform/values/json.ts";

/** A value of an answer, which may be missing or have another type than its API says. */
export type Field = JsonValue | undefined;

/** The text of a field; of a number its digits, of anything else none. */
export function textIn(field: Field): string {
  return typeof field === "string" ? field : typeof field === "number" ? String(field) : "";
}

/** The number of a field, which some servers send as text; undefined if it has none. */
export function countIn(field: Field): number | undefined {
  const count = typeof field === "string" && field.trim() !== "" ? Number(field) : field;
  return typeof count === "number" && Number.isFinite(count) ? count : undefined;
}

/** The items of a field; a value that is no list is its only item, null is none. */
export function listIn(field: Field): readonly JsonValue[] {
  if (field === undefined || field === null) return [];
  return Array.isArray(field) ? field : [field];
}

/** Whether a field has anything: some servers send an empty value for none. */
export function isFilled(field: Field): boolean {
  return typeof field === "object" && field !== null
    ? Object.values(field).some(Boolean)
    : Boolean(field);
}

/** The arguments of a call as JSON text, which some APIs send as a value; empty for none. */
export function argumentsTextIn(field: Field): string {
  if (field === undefined || field === null) return "";
  return typeof field === "string" ? field : JSON.stringify(field);
}

/** What an unknown part is, to name it where it is left out. */
export function describePart({ type, ...members }: JsonObject): string {
  const name = textIn(type);
  return name === ""
    ? `a part with ${Object.keys(members).slice(0, 5).join(", ") || "nothing"}`
    : `a part of type ${name}`;
}

/** Whether a part of an unknown type has the model's thoughts. */
export function isOfThoughts({ type }: JsonObject): boolean {
  return /reason|think|thought/i.test(textIn(type));
}
