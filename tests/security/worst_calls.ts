import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../shared/platform/values/json.ts";
import type { ToolDefinition } from "../../shared/gateway/tool_contracts/tool_definition.ts";
import { PLAIN_TEXTS, TABLES, WORST_TEXTS, WORST_VALUES, worstRecords } from "./worst_values.ts";

/** A call of a tool with one argument in its worst shape. */
export interface WorstCall {
  /** The argument, its shape, and the other arguments that differ from their defaults. */
  readonly name: string;
  readonly args: JsonObject;
}

/** A request may have this many characters besides its envelope. */
const REQUEST_CHARACTERS = 4_000_000;
/**
 * Texts for parsers are shorter than the plain ones, which takes a third of the time: an algorithm that
 * is worse than linear shows with them too.
 */
const PARSED_CHARACTERS = 1_000_000;
/** Texts up to this length get one shape: even a quadratic algorithm is fast for them. */
const SHORT_CHARACTERS = 1_024;
/** Texts with these names are parsed by their tools, and get every shape. */
const PARSED = ["content", "data", "prompt", "query", "sql", "text"];
/**
 * Other texts, and the arguments as a whole, are only read by code that all tools share: a tool tries
 * one of this many shapes, and other tools try the others.
 */
const TURNS = 4;
const UUID = "00000000-0000-4000-8000-000000000000";

/**
 * Calls of a tool, generated from its schema: each argument in every worst shape up to its limit,
 * with the values of the options beside it, and the arguments as a whole.
 *
 * @param known Valid values of arguments by name, such as the id of a row of the test.
 * @param turn The number of the tool, which decides the shapes that tools try in turn.
 */
export function* worstCalls(
  tool: ToolDefinition,
  known: JsonObject,
  turn: number,
): Generator<WorstCall> {
  const schema = tool.inputSchema;
  const properties = objectOf(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const base = Object.fromEntries(
    required.map((name) => [name, known[name] ?? smallValue(objectOf(properties[name]))]),
  );
  for (const [place, [name, property]] of Object.entries(properties).entries()) {
    const { needed, optional } = optionsBeside(name, properties, required);
    const texts = textsFor(name, turn + place);
    for (const [number, [shape, value]] of [...shapesOf(objectOf(property), texts)].entries()) {
      const inTurn = (options: readonly JsonObject[]) => options[number % options.length] ?? {};
      // What can be read as rows comes with every value of a required option, such as a format;
      // everything else, which is refused or copied alike with each of them, with one in turn.
      const options = shape in TABLES ? needed : [{ ...inTurn(needed), ...inTurn(optional) }];
      for (const option of options.length === 0 ? [{}] : options) {
        yield {
          name: [name, shape, JSON.stringify(option)].join(", "),
          args: { ...base, ...option, [name]: value },
        };
      }
    }
  }
  const objects = Object.entries(WORST_VALUES).filter(([, value]) => isJsonObject(value));
  const [shape, value] = objects[turn % objects.length] ?? ["", {}];
  yield { name: `all, ${shape}`, args: { ...base, ...objectOf(value) } };
}

/** The shapes of a text: all of them, or the first and those whose turn it is. */
function textsFor(name: string, turn: number): [string, (characters: number) => string][] {
  const all = Object.entries(WORST_TEXTS);
  if (PARSED.includes(name)) return all;
  return all.filter((_, number) => number === 0 || number % TURNS === turn % TURNS);
}

/** The values of the options and switches beside an argument. */
function optionsBeside(name: string, properties: JsonObject, required: readonly string[]) {
  const others = Object.entries(properties).filter(([other]) => other !== name);
  const settingsOf = (isNeeded: boolean): JsonObject[] =>
    others.filter(([other]) => required.includes(other) === isNeeded).flatMap(([other, property]) =>
      valuesOf(objectOf(property)).map((value) => ({ [other]: value }))
    );
  return { needed: settingsOf(true), optional: [{}, ...settingsOf(false)] };
}

function valuesOf(property: JsonObject): readonly JsonValue[] {
  if (Array.isArray(property.enum)) return property.enum;
  return property.type === "boolean" ? [property.default !== true] : [];
}

function* shapesOf(
  property: JsonObject,
  texts: ReturnType<typeof textsFor>,
): Generator<[string, JsonValue]> {
  for (const part of [property, ...listOf(property.anyOf).map(objectOf)]) {
    if (part.enum !== undefined || part.format !== undefined) continue;
    if (isOf(part, "string")) yield* textsOf(part, texts);
    if (isOf(part, "array")) yield* listsOf(part);
    if (isOf(part, "object")) yield* Object.entries(WORST_VALUES);
  }
}

function* textsOf(
  { maxLength }: JsonObject,
  texts: ReturnType<typeof textsFor>,
): Generator<[string, JsonValue]> {
  const characters = Math.min(Number(maxLength ?? Infinity), REQUEST_CHARACTERS);
  for (const [shape, textOf] of texts) {
    const most = shape in PLAIN_TEXTS ? characters : Math.min(characters, PARSED_CHARACTERS);
    yield [shape, textOf(most)];
    if (characters <= SHORT_CHARACTERS) return;
  }
}

function* listsOf({ items, maxItems }: JsonObject): Generator<[string, JsonValue]> {
  const count = Number(maxItems ?? Infinity);
  if (isOf(objectOf(items), "object")) yield* Object.entries(worstRecords(count));
  for (const [shape, value] of Object.entries(WORST_VALUES)) {
    if (Array.isArray(value)) yield [shape, value.slice(0, count)];
  }
  if (isOf(objectOf(items), "string")) {
    const length = Math.min(count, 1_000);
    yield ["distinct texts", Array.from({ length }, (_, number) => `name_${number}`)];
  }
}

/** Whether a schema allows a type; one without a type allows all. */
function isOf({ type, anyOf, $ref }: JsonObject, wanted: string): boolean {
  if (type === undefined) return anyOf === undefined || $ref !== undefined;
  return type === wanted || listOf(type).includes(wanted);
}

function smallValue(schema: JsonObject): JsonValue {
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  if (schema.format === "uuid") return UUID;
  if (isOf(schema, "string")) return "a";
  if (isOf(schema, "object")) return {};
  return isOf(schema, "array") ? [] : schema.type === "boolean" ? true : 1;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}
