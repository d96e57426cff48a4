import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import type { StepBudget } from "./step_budget.ts";

/**
 * Whether an array anywhere in a value repeats an item. Takes one pass over the value.
 *
 * @throws StepsSpentError
 */
export function repeatsItems(value: JsonValue, budget: StepBudget): boolean {
  // Not as strings like the forms: to build and hash one for each of many scalars takes long.
  const scalars = new Map<JsonValue, number>();
  const forms = new Map<string, number>();
  let repeats = false;
  numberOf(value);
  return repeats;

  /** Equal values get the same number. */
  function numberOf(item: JsonValue): number {
    budget.spend(1 / 3);
    if (Array.isArray(item)) return numberIn(forms, formOfArray(item));
    return isJsonObject(item) ? numberIn(forms, formOfObject(item)) : numberIn(scalars, item);
  }

  function numberIn<Key>(numbers: Map<Key, number>, key: Key): number {
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const next = scalars.size + forms.size;
    numbers.set(key, next);
    return next;
  }

  function formOfArray(array: readonly JsonValue[]): string {
    const items = array.map(numberOf);
    repeats ||= new Set(items).size < items.length;
    return `[${items.join()}`;
  }

  function formOfObject(object: JsonObject): string {
    const members = Object.keys(object).sort()
      .map((name) => `${JSON.stringify(name)}:${numberOf(object[name] ?? null)}`);
    return `{${members.join()}`;
  }
}
