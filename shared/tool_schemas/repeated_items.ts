import { isJsonObject, type JsonValue } from "../json.ts";

/** Whether an array anywhere in a value repeats an item. Takes one pass over the value. */
export function repeatsItems(value: JsonValue): boolean {
  const numbers = new Map<string, number>();
  let repeats = false;
  numberOf(value);
  return repeats;

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
      repeats ||= new Set(items).size < items.length;
      return `[${items.join()}`;
    }
    if (!isJsonObject(item)) return `${typeof item}:${item}`;
    const members = Object.keys(item).sort()
      .map((name) => `${JSON.stringify(name)}:${numberOf(item[name] ?? null)}`);
    return `{${members.join()}`;
  }
}
