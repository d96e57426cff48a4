import type { JsonObject } from "../json.ts";
import { anthropicDialect } from "./anthropic_dialect.ts";
import {
  type ArgumentShape,
  SAME_SHAPE,
  toOriginalArguments,
  toProvidedArguments,
} from "./argument_shape.ts";
import { type Converted, convertSchema, type Dialect } from "./convert_schema.ts";
import { foldRoot } from "./fold_root.ts";
import { geminiDialect } from "./gemini_dialect.ts";
import { openAiDialect, openAiStrictDialect } from "./openai_dialect.ts";
import { toPlainSchema } from "./plain_schema.ts";
import { renameProperties } from "./property_names.ts";
import { unusableSchema } from "./schema_error.ts";
import type { SchemaLoss } from "./schema_loss.ts";
import { exceededStrictLimit } from "./strict_limits.ts";

/** Whose form a function takes. */
export type FunctionTarget = "openai" | "anthropic" | "gemini";

/** Every form, for work that is done once for each. */
export const FUNCTION_TARGETS: readonly FunctionTarget[] = ["openai", "anthropic", "gemini"];

/** A tool in its own words. */
export interface ConvertibleTool {
  /** Legal for every provider; see `modelNames`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, of any draft. */
  readonly inputSchema: JsonObject;
}

/** A tool in a provider's form, with the way back for the arguments of a call. */
export interface FunctionDefinition {
  readonly name: string;
  readonly description: string;
  /** The root is an object with `properties`. */
  readonly parameters: JsonObject;
  /** The provider is asked to enforce the schema (OpenAI only). */
  readonly isStrict: boolean;
  /** What the original says and this does not. */
  readonly losses: readonly SchemaLoss[];
  /** A model's arguments as the tool takes them; to be validated against the tool's own schema. */
  toOriginal(args: JsonObject): JsonObject;
  /** Arguments of an earlier call as the model knows them. */
  toProvided(args: JsonObject): JsonObject;
}

/** How a tool is converted. */
export interface ConversionOptions {
  /** Without strict mode, for servers that do not know it. @default false */
  readonly isBasic?: boolean;
}

/** A schema of more characters than this costs more than a tool can be worth. */
export const MAX_SCHEMA_CHARACTERS = 100_000;

/**
 * Makes a function definition out of a tool. Its arguments still have to be validated against the
 * tool's own schema: what a provider cannot express is only described (see `losses`).
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID` for a schema that is remote, dangling, too deep, too
 * large, or of no object.
 */
export function toFunctionDefinition(
  tool: ConvertibleTool,
  target: FunctionTarget,
  options: ConversionOptions = {},
): FunctionDefinition {
  const losses: SchemaLoss[] = [];
  const plain = toPlainSchema(tool.inputSchema, (loss) => losses.push(loss));
  const root = foldRoot(plain, (loss) => losses.push(loss));
  const isBasic = options.isBasic === true;
  const converted = convertFor(target, root, isBasic);
  assertSize(converted.schema);
  const { schema: parameters, shape } = converted;
  return {
    name: tool.name,
    description: tool.description,
    parameters,
    isStrict: converted.isStrict,
    losses: distinct([...losses, ...converted.losses]),
    toOriginal: (args) => toOriginalArguments(args, shape),
    toProvided: (args) => toProvidedArguments(args, shape),
  };
}

interface ConvertedFor extends Converted {
  readonly isStrict: boolean;
  readonly losses: readonly SchemaLoss[];
}

function convertFor(target: FunctionTarget, root: JsonObject, isBasic: boolean): ConvertedFor {
  switch (target) {
    case "openai":
      return isBasic ? convertInto(openAiDialect, root) : convertForOpenAi(root);
    case "anthropic":
      return convertInto(anthropicDialect, root);
    case "gemini":
      return convertInto(geminiDialect, root);
  }
}

/** Strict where the schema allows, else as it is, with the first reason. */
function convertForOpenAi(root: JsonObject): ConvertedFor {
  const strict = convertInto(openAiStrictDialect, root);
  const beyond = exceededStrictLimit(strict.schema);
  const obstacle: Omit<SchemaLoss, "action"> | undefined = strict.blocked[0] ??
    (beyond === undefined ? undefined : { path: "$", keyword: beyond });
  if (obstacle === undefined) return strict;
  const loose = convertInto(openAiDialect, root);
  return { ...loose, losses: [...loose.losses, { ...obstacle, action: "not_strict" }] };
}

function convertInto(dialect: Dialect, root: JsonObject) {
  const losses: SchemaLoss[] = [];
  const blocked: Omit<SchemaLoss, "action">[] = [];
  const { schema, shape } = convertSchema(root, {
    dialect,
    path: "$",
    renamed: renameProperties(root, dialect.propertyName),
    report: (loss) => losses.push(loss),
    block: (keyword, path) => blocked.push({ keyword, path }),
  });
  return { ...withObjectRoot(schema, shape), isStrict: dialect.isStrict, losses, blocked };
}

/** Every provider wants `type` to be one word there, and `properties` to be present. */
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
