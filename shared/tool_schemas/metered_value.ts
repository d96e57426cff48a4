import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { StepBudget } from "./step_budget.ts";

/** Objects with more names, or longer ones, pay each time that their names are gone through. */
const MANY_NAMES = 200;
const MANY_CHARACTERS = 4_000;
/** Comparing each with each of fewer is nothing. */
const MANY_ITEMS = 300;

/** What is known of a value before it is validated. */
export interface MeteredValue {
  /** The value itself, unless it holds an object that has to be paid for. */
  readonly value: JsonValue;
  /** Values in it, itself included. */
  readonly count: number;
}

/** What a schema makes expensive. */
export interface ValueCosts {
  /** It may apply several schemas to one object. */
  readonly paysForNames: boolean;
  /** It may compare the items of an array each with each. */
  readonly paysForItems: boolean;
}

/**
 * Counts a value and makes its wide objects pay: the validator goes through all names of an object
 * once for each schema that it applies to it.
 * Of long arrays each item pays that is looked at.
 *
 * @throws StepsSpentError
 */
export function meterValue(
  value: JsonValue,
  budget: StepBudget,
  { paysForNames, paysForItems }: ValueCosts,
): MeteredValue {
  let count = 0;
  return { value: copy(value), count };

  function copy(source: JsonValue): JsonValue {
    count++;
    budget.spend(1 / 3);
    if (Array.isArray(source)) {
      let copies: JsonValue[] | null = null;
      for (const [index, item] of source.entries()) {
        const own = copy(item);
        if (own !== item) (copies ??= [...source])[index] = own;
      }
      return paysForItems && source.length > MANY_ITEMS
        ? payingItems(copies ?? source)
        : copies ?? source;
    }
    return isJsonObject(source) ? copyObject(source) : source;
  }

  function copyObject(source: JsonObject): JsonObject {
    const names = Object.keys(source);
    let characters = 0;
    const changed: [string, JsonValue][] = [];
    for (const name of names) {
      characters += name.length;
      const item = source[name] ?? null;
      const own = copy(item);
      if (own !== item) changed.push([name, own]);
    }
    const whole = changed.length === 0
      ? source
      : Object.fromEntries([...Object.entries(source), ...changed]);
    const isWide = names.length > MANY_NAMES || characters > MANY_CHARACTERS;
    return isWide && paysForNames ? paying(whole, names.length + characters / 100) : whole;
  }

  function payingItems(array: readonly JsonValue[]): readonly JsonValue[] {
    return new Proxy(array, {
      get(target, place) {
        budget.spend(1 / 5);
        return Reflect.get(target, place);
      },
    });
  }

  function paying(object: JsonObject, steps: number): JsonObject {
    return new Proxy(object, {
      ownKeys(target) {
        budget.spend(steps);
        return Reflect.ownKeys(target);
      },
    });
  }
}
