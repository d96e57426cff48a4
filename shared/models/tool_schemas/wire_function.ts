import type { JsonObject } from "../../platform/values/json.ts";
import type { FunctionDefinition } from "./function_definition.ts";

/** A function in OpenAI's chat completions. */
export interface OpenAiFunction {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonObject;
    readonly strict: boolean;
  };
}

/** A tool in Anthropic's messages. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
}

/** A function declaration of Gemini. */
export interface GeminiFunction {
  readonly name: string;
  readonly description: string;
  readonly parametersJsonSchema: JsonObject;
}

/**
 * Writes a definition in OpenAI's form; `strict` is always explicit, because its APIs have
 * different defaults.
 */
export function toOpenAiFunction(definition: FunctionDefinition): OpenAiFunction {
  const { name, description, parameters, isStrict: strict } = definition;
  return { type: "function", function: { name, description, parameters, strict } };
}

/** Writes a definition in Anthropic's form. */
export function toAnthropicTool(definition: FunctionDefinition): AnthropicTool {
  const { name, description, parameters } = definition;
  return { name, description, input_schema: parameters };
}

/** Writes a definition in Gemini's form. */
export function toGeminiFunction(definition: FunctionDefinition): GeminiFunction {
  const { name, description, parameters } = definition;
  return { name, description, parametersJsonSchema: parameters };
}
