import {
  type ConvertibleTool,
  FUNCTION_TARGETS,
  type FunctionTarget,
  toFunctionDefinitions,
} from "./function_definition.ts";
import type { SchemaLoss } from "./schema_loss.ts";
import { type OpenAiFunction, toOpenAiFunction } from "./wire_function.ts";

/** The conversion results that the tool cache stores. */
export interface CachedForms {
  readonly openAi: OpenAiFunction;
  /** The losses for each provider. */
  readonly losses: Readonly<Record<FunctionTarget, readonly SchemaLoss[]>>;
}

/**
 * Converts a tool for every provider, so that an unusable tool is detected when it is listed.
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID` as {@linkcode toFunctionDefinitions}.
 */
export function toCachedForms(tool: ConvertibleTool): CachedForms {
  const definitions = toFunctionDefinitions(tool);
  const losses = FUNCTION_TARGETS.map((target) => [target, definitions[target].losses] as const);
  return {
    openAi: toOpenAiFunction(definitions.openai),
    losses: Object.fromEntries(losses) as Record<FunctionTarget, readonly SchemaLoss[]>,
  };
}
