import {
  type ConvertibleTool,
  FUNCTION_TARGETS,
  type FunctionTarget,
  toFunctionDefinition,
} from "./function_definition.ts";
import type { SchemaLoss } from "./schema_loss.ts";
import { type OpenAiFunction, toOpenAiFunction } from "./wire_function.ts";

/** What the cache of tools keeps of the conversions. */
export interface CachedForms {
  readonly openAi: OpenAiFunction;
  /** What each provider cannot be told. */
  readonly losses: Readonly<Record<FunctionTarget, readonly SchemaLoss[]>>;
}

/**
 * Converts a tool for every provider, so that a tool that some model could not be offered is found
 * when it is listed.
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID` as {@linkcode toFunctionDefinition}.
 */
export function toCachedForms(tool: ConvertibleTool): CachedForms {
  const losses = FUNCTION_TARGETS.map((target) =>
    [target, toFunctionDefinition(tool, target).losses] as const
  );
  return {
    openAi: toOpenAiFunction(toFunctionDefinition(tool, "openai")),
    losses: Object.fromEntries(losses) as Record<FunctionTarget, readonly SchemaLoss[]>,
  };
}
