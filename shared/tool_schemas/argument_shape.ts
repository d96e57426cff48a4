import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { fitsSchema } from "./fits_schema.ts";

/** How values of one schema are mapped between a tool's own form and a provider's. */
export interface ArgumentShape {
  readonly properties: readonly PropertyShape[];
  /** Of properties that have no entry. */
  readonly rest: readonly ArgumentShape[];
  /** Of the first items of a tuple. */
  readonly prefix: readonly ArgumentShape[];
  /** Of all other items. */
  readonly items: readonly ArgumentShape[];
  /** Shapes of the same value that always count. */
  readonly parts: readonly ArgumentShape[];
  /** Of each choice those options count that the value fits. */
  readonly choices: readonly (readonly OptionShape[])[];
}

/** One declared property. */
export interface PropertyShape {
  /** The tool's own name. */
  readonly original: string;
  /** The name that the provider sees. */
  readonly provided: string;
  readonly isRequired: boolean;
  /** The tool's own schema of it. */
  readonly schema: JsonObject;
  readonly shape: ArgumentShape;
}

/** One option of a choice, in the tool's own form and in the provider's. */
export interface OptionShape {
  readonly original: JsonObject;
  readonly provided: JsonObject;
  readonly shape: ArgumentShape;
}

type Form = "original" | "provided";

/** The shape of a value that is the same in both forms. */
export const SAME_SHAPE: ArgumentShape = {
  properties: [],
  rest: [],
  prefix: [],
  items: [],
  parts: [],
  choices: [],
};

/**
 * Arguments as the tool takes them: its own property names, and without the nulls by which a model
 * says that an optional argument is absent. A null that the tool's schema allows stays.
 */
export function toOriginalArguments(args: JsonObject, shape: ArgumentShape): JsonObject {
  return mapObject(args, [shape], "provided");
}

/** Arguments as the provider knows them. */
export function toProvidedArguments(args: JsonObject, shape: ArgumentShape): JsonObject {
  return mapObject(args, [shape], "original");
}

function mapValue(value: JsonValue, shapes: readonly ArgumentShape[], from: Form): JsonValue {
  if (shapes.length === 0) return value;
  if (isJsonObject(value)) return mapObject(value, shapes, from);
  if (!Array.isArray(value)) return value;
  const counting = countingShapes(value, shapes, from);
  return value.map((item: JsonValue, index) =>
    mapValue(item, counting.flatMap(({ prefix, items }) => prefix[index] ?? items), from)
  );
}

function mapObject(
  value: JsonObject,
  shapes: readonly ArgumentShape[],
  from: Form,
): JsonObject {
  const counting = countingShapes(value, shapes, from);
  const entries = Object.entries(value).flatMap(([name, member]): [string, JsonValue][] => {
    const declared = declarations(name, counting, from);
    // An open option lets other options' properties through, which keep their names' meaning.
    const [first] = declared.length > 0
      ? declared
      : declarations(name, possibleShapes(shapes), from);
    if (first === undefined) {
      return [[name, mapValue(member, counting.flatMap(({ rest }) => rest), from)]];
    }
    if (from === "provided" && member === null && standsForAbsent(declared)) return [];
    const to = from === "provided" ? first.original : first.provided;
    const inner = declared.length > 0 ? declared : [first];
    return [[to, mapValue(member, inner.map(({ shape }) => shape), from)]];
  });
  return Object.fromEntries(entries);
}

function declarations(
  name: string,
  shapes: readonly ArgumentShape[],
  from: Form,
): PropertyShape[] {
  return shapes.flatMap(({ properties }) =>
    properties.filter((property) => property[from] === name)
  );
}

function standsForAbsent(declared: readonly PropertyShape[]): boolean {
  return !declared.some(({ isRequired }) => isRequired) &&
    declared.some(({ schema }) => !fitsSchema(null, schema));
}

/** The shapes of a value with those of their parts, and of all options. */
function possibleShapes(shapes: readonly ArgumentShape[]): ArgumentShape[] {
  return shapes.flatMap((shape) => [
    shape,
    ...possibleShapes(shape.parts),
    ...shape.choices.flatMap((options) => possibleShapes(options.map((option) => option.shape))),
  ]);
}

/** The shapes of a value with those of their parts, and of the options that it fits. */
function countingShapes(
  value: JsonValue,
  shapes: readonly ArgumentShape[],
  from: Form,
): ArgumentShape[] {
  return shapes.flatMap((shape) => [
    shape,
    ...countingShapes(value, shape.parts, from),
    ...shape.choices.flatMap((options) => {
      const option = options.find((candidate) => fitsSchema(value, candidate[from]));
      // What fits no option is mapped as far as the names go; validation refuses it anyway.
      const chosen = option === undefined ? options : [option];
      return countingShapes(value, chosen.map((candidate) => candidate.shape), from);
    }),
  ]);
}
