import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { fitsSchema } from "./fits_schema.ts";
import { StepBudget } from "./step_budget.ts";

/**
 * Describes how values of one schema are mapped between the tool's form and the provider's form.
 */
export interface ArgumentShape {
  readonly properties: readonly PropertyShape[];
  /** The shape of properties without an entry. */
  readonly rest: readonly ArgumentShape[];
  /** The shapes of the first items of a tuple. */
  readonly prefix: readonly ArgumentShape[];
  /** The shape of all other items. */
  readonly items: readonly ArgumentShape[];
  /** Shapes that always apply to the value. */
  readonly parts: readonly ArgumentShape[];
  /** For each choice, the options that match the value apply. */
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
 * Converts arguments to the tool's form: with its own property names, and without the nulls that
 * mark absent optional arguments. A null that the tool's schema allows stays.
 *
 * @throws StepsSpentError if the mapping needs too many steps.
 */
export function toOriginalArguments(args: JsonObject, shape: ArgumentShape): JsonObject {
  return mapObject(args, [shape], mappingFrom("provided"));
}

/**
 * Converts arguments to the provider's form.
 *
 * @throws StepsSpentError if the mapping needs too many steps.
 */
export function toProvidedArguments(args: JsonObject, shape: ArgumentShape): JsonObject {
  return mapObject(args, [shape], mappingFrom("original"));
}

/** The state of a mapping. */
interface Mapping {
  readonly from: Form;
  /** Shared by all attempts for one set of arguments. */
  readonly budget: StepBudget;
}

const MAX_STEPS = 40_000;
/** Starting a validation costs as much as this many steps. */
const VALIDATION_STEPS = 4;

function mappingFrom(from: Form): Mapping {
  return { from, budget: new StepBudget(MAX_STEPS) };
}

function fits(value: JsonValue, schema: JsonObject, { budget }: Mapping): boolean {
  budget.spend(VALIDATION_STEPS);
  return fitsSchema(value, schema, budget);
}

function mapValue(value: JsonValue, shapes: readonly ArgumentShape[], mapping: Mapping): JsonValue {
  if (shapes.length === 0) return value;
  if (isJsonObject(value)) return mapObject(value, shapes, mapping);
  if (!Array.isArray(value)) return value;
  const counting = countingShapes(value, shapes, mapping);
  return value.map((item: JsonValue, index) =>
    mapValue(item, counting.flatMap(({ prefix, items }) => prefix[index] ?? items), mapping)
  );
}

function mapObject(
  value: JsonObject,
  shapes: readonly ArgumentShape[],
  mapping: Mapping,
): JsonObject {
  const counting = countingShapes(value, shapes, mapping);
  const rest = counting.flatMap((shape) => shape.rest);
  const entries = Object.entries(value).flatMap(([name, member]): [string, JsonValue][] => {
    // An open option accepts the properties of other options, whose names keep their meaning.
    const possible = declarations(name, shapes, "possible", mapping);
    const declared = possible.length === 0 ? [] : declarations(name, counting, "own", mapping);
    const [first] = declared.length > 0 ? declared : possible;
    if (first === undefined) return [[name, mapValue(member, rest, mapping)]];
    if (mapping.from === "provided" && member === null && standsForAbsent(declared, mapping)) {
      return [];
    }
    const to = mapping.from === "provided" ? first.original : first.provided;
    const inner = declared.length > 0 ? declared : [first];
    return [[to, mapValue(member, inner.map(({ shape }) => shape), mapping)]];
  });
  return Object.fromEntries(entries);
}

function declarations(
  name: string,
  shapes: readonly ArgumentShape[],
  which: keyof NameIndex,
  { from }: Mapping,
): PropertyShape[] {
  return shapes.flatMap((shape) => indexOf(shape, from)[which].get(name) ?? []);
}

function standsForAbsent(declared: readonly PropertyShape[], mapping: Mapping): boolean {
  return !declared.some(({ isRequired }) => isRequired) &&
    declared.some(({ schema }) => !fits(null, schema, mapping));
}

type PropertiesByName = ReadonlyMap<string, readonly PropertyShape[]>;

/** The properties of a shape by their name in one form. */
interface NameIndex {
  readonly own: PropertiesByName;
  /** Also those of its parts and options. */
  readonly possible: PropertiesByName;
}

const nameIndexes = new WeakMap<ArgumentShape, Readonly<Record<Form, NameIndex>>>();

/** Without an index, each name of a value would be compared with every property of the schema. */
function indexOf(shape: ArgumentShape, from: Form): NameIndex {
  let index = nameIndexes.get(shape);
  if (index === undefined) {
    index = { original: toIndex(shape, "original"), provided: toIndex(shape, "provided") };
    nameIndexes.set(shape, index);
  }
  return index[from];
}

function toIndex(shape: ArgumentShape, form: Form): NameIndex {
  const byName = (properties: readonly PropertyShape[]) =>
    Map.groupBy(properties, (property) => property[form]);
  const possible = possibleShapes([shape]).flatMap(({ properties }) => properties);
  return { own: byName(shape.properties), possible: byName(possible) };
}

/** The shapes of a value, of their parts and of all options. */
function possibleShapes(shapes: readonly ArgumentShape[]): ArgumentShape[] {
  return shapes.flatMap((shape) => [
    shape,
    ...possibleShapes(shape.parts),
    ...shape.choices.flatMap((options) => possibleShapes(options.map((option) => option.shape))),
  ]);
}

/** The shapes of a value, of their parts and of the options that it matches. */
function countingShapes(
  value: JsonValue,
  shapes: readonly ArgumentShape[],
  mapping: Mapping,
): ArgumentShape[] {
  return shapes.flatMap((shape) => [
    shape,
    ...countingShapes(value, shape.parts, mapping),
    ...shape.choices.flatMap((options) => {
      const option = options.find((candidate) => fits(value, candidate[mapping.from], mapping));
      // A value that matches no option is mapped by name only; validation rejects it anyway.
      const chosen = option === undefined ? options : [option];
      return countingShapes(value, chosen.map((candidate) => candidate.shape), mapping);
    }),
  ]);
}
