import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import type { StepBudget } from "./step_budget.ts";

/** Objects with more or longer names cost steps each time their names are iterated. */
const MANY_NAMES = 200;
const MANY_CHARACTERS = 4_000;
/** Pairwise comparison of fewer items costs nothing. */
const MANY_ITEMS = 300;

/** Facts about a value before it is validated. */
export interface MeteredValue {
  /** The value itself, unless it contains an object that costs steps. */
  readonly value: JsonValue;
  /** Values in it, itself included. */
  readonly count: number;
}

/** The expensive features of a schema. */
export interface ValueCosts {
  /** It may apply several schemas to one object. */
  readonly paysForNames: boolean;
  /** It may compare the items of an array pairwise. */
  readonly paysForItems: boolean;
}

/**
 * Counts a value and makes its wide objects cost steps: the validator iterates all names of an
 * object once for each schema that it applies to it. In long arrays each visited item costs a step.
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
