import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import {
  type ArgumentShape,
  SAME_SHAPE,
  toOriginalArguments,
  toProvidedArguments,
} from "./argument_shape.ts";
import { type Converted, convertSchema, type Dialect } from "./convert_schema.ts";
import { foldRoot } from "./fold_root.ts";
import { geminiDialect } from "./gemini_dialect.ts";
import { MAX_SCHEMA_CHARACTERS } from "./max_schema_characters.ts";
import { openAiDialect, openAiStrictDialect, PROPERTY_NAME } from "./openai_dialect.ts";
import { toPlainSchema } from "./plain_schema.ts";
import { propertyNamesIn, renameProperties } from "./property_names.ts";
import { unusableSchema } from "./schema_error.ts";
import type { SchemaLoss } from "./schema_loss.ts";

/** The provider whose form is used. */
export type FunctionTarget = "openai" | "anthropic" | "gemini";

/** All forms. */
export const FUNCTION_TARGETS: readonly FunctionTarget[] = ["openai", "anthropic", "gemini"];

/** A tool in its original form. */
export interface ConvertibleTool {
  /** Legal for every provider; see `modelNames`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, of any draft. */
  readonly inputSchema: JsonObject;
}

/** A tool in a provider's form, with the mapping back for the arguments of a call. */
export interface FunctionDefinition {
  readonly name: string;
  readonly description: string;
  /** The root is an object with `properties`. */
  readonly parameters: JsonObject;
  /** The provider enforces the schema (OpenAI only). */
  readonly isStrict: boolean;
  /** The parts of the original that are lost. */
  readonly losses: readonly SchemaLoss[];
  /**
   * Converts a model's arguments to the tool's form; the result must be validated against the
   * tool's own schema.
   */
  toOriginal(args: JsonObject): JsonObject;
  /** Converts the arguments of an earlier call to the model's form. */
  toProvided(args: JsonObject): JsonObject;
}

interface ConversionOptions {
  /** Without strict mode, for servers that do not support it. @default false */
  readonly isBasic?: boolean;
}

/**
 * Converts a tool to a function definition. Its arguments must still be validated against the
 * tool's own schema: rules that a provider cannot express are only described (see `losses`).
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID` for a schema that is remote, dangling, too deep, too
 * large, or of no object.
 */
export function toFunctionDefinition(
  tool: ConvertibleTool,
  target: FunctionTarget,
  options: ConversionOptions = {},
): FunctionDefinition {
  return define(tool, toRoot(tool.inputSchema), target, options.isBasic === true);
}

/** Converts a tool for every provider. @throws as {@linkcode toFunctionDefinition} */
export function toFunctionDefinitions(
  tool: ConvertibleTool,
): Readonly<Record<FunctionTarget, FunctionDefinition>> {
  const root = toRoot(tool.inputSchema);
  return Object.fromEntries(
    FUNCTION_TARGETS.map((target) => [target, define(tool, root, target, false)]),
  ) as Record<FunctionTarget, FunctionDefinition>;
}

/** A schema that every dialect starts from. */
interface Root {
  readonly schema: JsonObject;
  /** The names of all properties in it. */
  readonly names: readonly string[];
  readonly losses: readonly SchemaLoss[];
}

function toRoot(inputSchema: JsonObject): Root {
  const losses: SchemaLoss[] = [];
  const plain = toPlainSchema(inputSchema, (loss) => losses.push(loss));
  const schema = foldRoot(plain, (loss) => losses.push(loss));
  return { schema, names: propertyNamesIn(schema), losses };
}

function define(
  tool: ConvertibleTool,
  root: Root,
  target: FunctionTarget,
  isBasic: boolean,
): FunctionDefinition {
  const converted = convertFor(target, root, isBasic);
  assertSize(converted.schema);
  const { schema: parameters, shape } = converted;
  return {
    name: tool.name,
    description: tool.description,
    parameters,
    isStrict: converted.isStrict,
    losses: distinct([...root.losses, ...converted.losses]),
    toOriginal: (args) => toOriginalArguments(args, shape),
    toProvided: (args) => toProvidedArguments(args, shape),
  };
}

interface ConvertedFor extends Converted {
  readonly isStrict: boolean;
  readonly losses: readonly SchemaLoss[];
}

function convertFor(target: FunctionTarget, root: Root, isBasic: boolean): ConvertedFor {
  switch (target) {
    case "openai":
      return isBasic ? convertInto(openAiDialect, root) : convertForOpenAi(root);
    case "anthropic":
      return convertInto(anthropicDialect, root);
    case "gemini":
      return convertInto(geminiDialect, root);
  }
}

/** Strict if the schema allows it, otherwise unchanged, with the first reason. */
function convertForOpenAi(root: Root): ConvertedFor {
  const strict = convertInto(openAiStrictDialect, root);
  const beyond = exceededStrictLimit(strict.schema);
  const obstacle: Omit<SchemaLoss, "action"> | undefined = strict.blocked[0] ??
    (beyond === undefined ? undefined : { path: "$", keyword: beyond });
  if (obstacle === undefined) return strict;
  const loose = convertInto(openAiDialect, root);
  return { ...loose, losses: [...loose.losses, { ...obstacle, action: "not_strict" }] };
}

function convertInto(dialect: Dialect, root: Root) {
  const losses: SchemaLoss[] = [];
  const blocked: Omit<SchemaLoss, "action">[] = [];
  const { schema, shape } = convertSchema(root.schema, {
    dialect,
    path: "$",
    renamed: renameProperties(root.names, dialect.propertyName),
    report: (loss) => losses.push(loss),
    block: (keyword, path) => blocked.push({ keyword, path }),
  });
  return { ...withObjectRoot(schema, shape), isStrict: dialect.isStrict, losses, blocked };
}

/** Every provider requires a single `type` there, and `properties`. */
function withObjectRoot(schema: JsonObject, shape: ArgumentShape = SAME_SHAPE): Converted {
  const { type: _, properties = {}, ...rest } = schema;
  return { schema: { type: "object", properties, ...rest }, shape };
}

function assertSize(schema: JsonObject): void {
  if (JSON.stringify(schema).length <= MAX_SCHEMA_CHARACTERS) return;
  throw unusableSchema(`its schema is larger than ${MAX_SCHEMA_CHARACTERS} characters`);
}

function distinct(losses: readonly SchemaLoss[]): SchemaLoss[] {
  return [...new Map(losses.map((loss) => [JSON.stringify(loss), loss])).values()];
}

/**
 * Anthropic accepts JSON Schema 2020-12 below the root. Its strict mode is not used, because its
 * limits apply to all tools of a request together: one more tool could make every call fail.
 */
const anthropicDialect: Dialect = {
  propertyName: PROPERTY_NAME,
  isStrict: false,
  prepare: (schema) => schema,
  takes: () => true,
};

const MAX_PROPERTIES = 5_000;
const MAX_LEVELS = 10;
const MAX_VALUES = 1_000;
const MAX_NAME_CHARACTERS = 120_000;
/** Maximum characters of a list with more than {@linkcode LONG_LIST} values. */
const MAX_LONG_LIST_CHARACTERS = 15_000;
const LONG_LIST = 250;

/** The keyword with which a schema exceeds the limits of OpenAI's strict mode, if any. */
function exceededStrictLimit(schema: JsonObject): string | undefined {
  const sums = { properties: 0, values: 0, characters: 0, isListTooLong: false, levels: 0 };
  measure(schema, 0, sums);
  if (sums.levels > MAX_LEVELS) return "items";
  if (sums.values > MAX_VALUES || sums.isListTooLong) return "enum";
  const isTooWide = sums.properties > MAX_PROPERTIES || sums.characters > MAX_NAME_CHARACTERS;
  return isTooWide ? "properties" : undefined;
}

interface Sums {
  properties: number;
  values: number;
  characters: number;
  isListTooLong: boolean;
  levels: number;
}

function measure(schema: JsonValue, level: number, sums: Sums): void {
  if (!isJsonObject(schema)) return;
  sums.levels = Math.max(sums.levels, level);
  const { properties, items, anyOf } = schema;
  const values: readonly JsonValue[] = Array.isArray(schema.enum) ? schema.enum : [];
  const length = JSON.stringify([...values, schema.const ?? null]).length;
  sums.values += values.length;
  sums.characters += length;
  sums.isListTooLong ||= values.length > LONG_LIST && length > MAX_LONG_LIST_CHARACTERS;
  if (isJsonObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      sums.properties++;
      sums.characters += name.length;
      measure(property, level + 1, sums);
    }
  }
  if (items !== undefined) measure(items, level + 1, sums);
  if (Array.isArray(anyOf)) {
    for (const option of anyOf) measure(option, level, sums);
  }
}
