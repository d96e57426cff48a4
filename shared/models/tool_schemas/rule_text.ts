import type { JsonValue } from "../../platform/values/json.ts";
import { beginningOf } from "../../platform/values/beginning_of.ts";

/** Longer values cost more tokens than they are worth. */
const MAX_VALUE_CHARACTERS = 300;

/** A keyword's value as a description shows it. */
export function ruleText(value: JsonValue): string {
  const text = JSON.stringify(value);
  if (text.length <= MAX_VALUE_CHARACTERS) return text;
  return `${beginningOf(text, MAX_VALUE_CHARACTERS)}…`;
}

/** A description with one more sentence. */
export function addRule(description: JsonValue | undefined, rule: string): string {
  return typeof description === "string" && description !== "" ? `${description} ${rule}` : rule;
}
