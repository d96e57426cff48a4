import { isJsonObject, type JsonValue } from "../json.ts";

/** The longest array that repeats an item; 0: none does. Takes one pass over the value. */
export function longestWithRepeats(value: JsonValue): number {
  const numbers = new Map<string, number>();
  let longest = 0;
  numberOf(value);
  return longest;

  /** Equal values get the same number. */
  function numberOf(item: JsonValue): number {
    const form = formOf(item);
    const known = numbers.get(form);
    if (known !== undefined) return known;
    numbers.set(form, numbers.size);
    return numbers.size - 1;
  }

  function formOf(item: JsonValue): string {
    if (Array.isArray(item)) {
      const items = item.map((inner: JsonValue) => numberOf(inner));
      if (new Set(items).size < items.length) longest = Math.max(longest, items.length);
      return `[${items.join()}`;
    }
    if (!isJsonObject(item)) return `${typeof item}:${item}`;
    const members = Object.keys(item).sort()
      .map((name) => `${JSON.stringify(name)}:${numberOf(item[name] ?? null)}`);
    return `{${members.join()}`;
  }
}
