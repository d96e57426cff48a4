import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../platform/values/json.ts";
import { joinPath } from "../../platform/values/json_path.ts";
import { ReferenceIndex } from "./reference_index.ts";
import { namesIn, schemasIn, typesOf } from "./schema_keywords.ts";
import { StepBudget } from "./step_budget.ts";
import { beginningOf } from "../../platform/values/beginning_of.ts";

/** Arguments without undeclared members. */
export interface DeclaredArguments {
  readonly arguments: JsonObject;
  /** The first few dropped members, as JSON paths from the arguments. */
  readonly dropped: readonly string[];
  readonly droppedCount: number;
}

/** A schema with the address against which its references are resolved. */
interface Place {
  readonly schema: JsonObject;
  readonly base: string;
}

/** The combined rules of a value's schemas about its members. */
interface Declaration {
  /** Some schema lists properties and none opens the object to others. */
  readonly isClosed: boolean;
  readonly byName: ReadonlyMap<string, readonly Place[]>;
  readonly others: readonly Place[];
  readonly prefix: readonly (readonly Place[])[];
  readonly items: readonly Place[];
}

const MAX_SHOWN = 10;
const MAX_SHOWN_CHARACTERS = 200;
/** Maximum number of visited members, items and schemas. */
const MAX_STEPS = 200_000;
/** Keywords with schemas for the same value. */
const IN_PLACE = ["if", "then", "else"] as const;
const IN_PLACE_LISTS = ["allOf", "anyOf", "oneOf"] as const;
/** Keywords that declare members in addition to `properties`. */
const OPENING = ["additionalProperties", "unevaluatedProperties", "patternProperties"] as const;
/** Keywords with which a schema without `properties` does not accept every object. */
const DECLARING: ReadonlySet<string> = new Set([
  ...["$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if"],
  ...["dependentSchemas", "dependencies", "properties", "required"],
]);

/**
 * Drops undeclared members, because a server may accept a member that no one has approved. An
 * object is unchanged if its schema lists no properties, or allows others with
 * `additionalProperties`, `unevaluatedProperties`, `patternProperties` or `propertyNames`.
 *
 * @throws StepsSpentError, SwarmError `TOOL_CONFIG_INVALID` for a dangling reference.
 */
export function onlyDeclared(args: JsonObject, schema: JsonObject): DeclaredArguments {
  const index = new ReferenceIndex(schema);
  const budget = new StepBudget(MAX_STEPS);
  const declarations = new Map<string, Declaration>();
  const ids = new Map<JsonObject, number>();
  const dropped: string[] = [];
  let droppedCount = 0;
  const kept = keepObject(args, [{ schema, base: index.base }], "$");
  return { arguments: kept, dropped, droppedCount };

  function keep(value: JsonValue, places: readonly Place[], path: string): JsonValue {
    budget.spend(1);
    if (places.length === 0) return value;
    if (isJsonObject(value)) return keepObject(value, places, path);
    if (!Array.isArray(value)) return value;
    const { prefix, items } = declarationOf(places);
    return value.map((item: JsonValue, place) =>
      keep(item, prefix[place] ?? items, `${path}[${place}]`)
    );
  }

  function keepObject(value: JsonObject, places: readonly Place[], path: string): JsonObject {
    const { isClosed, byName, others } = declarationOf(places);
    const members: [string, JsonValue][] = [];
    for (const [name, item] of Object.entries(value)) {
      const declared = byName.get(name);
      if (declared === undefined && isClosed) drop(path, name);
      else members.push([name, keep(item, declared ?? others, pathOf(path, name))]);
    }
    return Object.fromEntries(members);
  }

  function drop(path: string, name: string): void {
    droppedCount++;
    if (dropped.length < MAX_SHOWN) dropped.push(pathOf(path, name));
  }

  function declarationOf(places: readonly Place[]): Declaration {
    const key = [...new Set(places.map(({ schema, base }) => `${idOf(schema)} ${base}`))].join();
    const known = declarations.get(key);
    if (known !== undefined) return known;
    const declaration = declare(expand(places));
    declarations.set(key, declaration);
    return declaration;
  }

  function idOf(schema: JsonObject): number {
    const id = ids.get(schema) ?? ids.size;
    ids.set(schema, id);
    return id;
  }

  /** The schemas, plus those that they apply to the same value, each once. */
  function expand(places: readonly Place[]): Place[] {
    const found = new Map<JsonObject, Place>();
    const open = [...places];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      const { schema } = place;
      if (found.has(schema)) continue;
      budget.spend(1);
      const base = index.baseOf(schema, place.base);
      found.set(schema, { schema, base });
      const inner = [
        ...IN_PLACE.map((keyword) => schema[keyword]),
        ...IN_PLACE_LISTS.flatMap((keyword) => schemasIn(schema[keyword])),
        ...Object.values(asJsonObject(schema.dependentSchemas)),
        ...Object.values(asJsonObject(schema.dependencies)),
      ].filter(isJsonObject);
      for (const item of inner) open.push({ schema: item, base });
      for (const reference of [schema.$ref, schema.$dynamicRef, schema.$recursiveRef]) {
        if (typeof reference !== "string") continue;
        const target = index.find(reference, base);
        if (isJsonObject(target.schema)) open.push({ schema: target.schema, base: target.base });
      }
    }
    return [...found.values()];
  }

  function declare(places: readonly Place[]): Declaration {
    const byName = new Map<string, Place[]>();
    const others: Place[] = [];
    const prefix: Place[][] = [];
    const items: Place[] = [];
    let isListed = false;
    let isOpen = false;
    for (const { schema, base } of places) {
      const toPlaces = (value: JsonValue | undefined): Place[] =>
        isJsonObject(value) ? [{ schema: value, base }] : [];
      isListed ||= isJsonObject(schema.properties);
      isOpen ||= schema.propertyNames !== undefined || takesAnyObject(schema);
      for (const name of namesIn(schema.required)) byName.set(name, byName.get(name) ?? []);
      for (const [name, item] of Object.entries(asJsonObject(schema.properties))) {
        budget.spend(1);
        byName.set(name, [...byName.get(name) ?? [], ...toPlaces(item)]);
      }
      for (const keyword of OPENING) {
        const value = schema[keyword];
        isOpen ||= value !== undefined && value !== false;
        const held = keyword === "patternProperties" ? Object.values(asJsonObject(value)) : [value];
        others.push(...held.flatMap(toPlaces));
      }
      const listed = Array.isArray(schema.items) ? schema.items : schema.prefixItems;
      for (const [place, item] of (Array.isArray(listed) ? listed : []).entries()) {
        prefix[place] = [...prefix[place] ?? [], ...toPlaces(item)];
      }
      items.push(...[schema.items, schema.additionalItems, schema.unevaluatedItems, schema.contains]
        .flatMap(toPlaces));
    }
    return { isClosed: isListed && !isOpen, byName, others, prefix, items };
  }
}

function takesAnyObject(schema: JsonObject): boolean {
  return typesOf(schema).includes("object") &&
    !Object.keys(schema).some((keyword) => DECLARING.has(keyword));
}

function pathOf(path: string, name: string): string {
  const whole = joinPath(path, beginningOf(name, MAX_SHOWN_CHARACTERS));
  return whole.length <= MAX_SHOWN_CHARACTERS ? whole : `${whole.slice(0, MAX_SHOWN_CHARACTERS)}…`;
}
