import type { ConvertibleTool } from "../tool_schemas/function_definition.ts";
import {
  type FunctionDefinition,
  toFunctionDefinition,
} from "../tool_schemas/function_definition.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { isJsonObject } from "../../platform/values/json.ts";
import { RESULT_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../platform/json/parse_json.ts";
import type { ModelRequest, ModelResponse } from "./model_port.ts";

/**
 * The answer schema of a request as providers enforce it: a closed schema with every field
 * required, which OpenAI, Anthropic and Gemini all accept. Null if the schema cannot be expressed
 * that way, or there is none.
 */
export function nativeOutput({ output }: ModelRequest): FunctionDefinition | null {
  if (output === undefined) return null;
  const tool: ConvertibleTool = { name: "output", description: "", inputSchema: output.schema };
  try {
    const definition = toFunctionDefinition(tool, "openai");
    return definition.isStrict ? definition : null;
  } catch (error) {
    if (error instanceof SwarmError && error.code === "TOOL_CONFIG_INVALID") return null;
    throw error;
  }
}

/** The answer with its text in the original schema's form: without nulls for absent fields. */
export function fromNativeOutput(
  response: ModelResponse,
  definition: FunctionDefinition | null,
): ModelResponse {
  if (definition === null || response.finish_reason !== "stop") return response;
  const value = parseJsonOrUndefined(response.text, RESULT_LIMITS);
  if (!isJsonObject(value)) return response;
  return { ...response, text: JSON.stringify(definition.toOriginal(value)) };
}
