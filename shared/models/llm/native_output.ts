import type { ConvertibleTool } from "../tool_schemas/function_definition.ts";
import {
  type FunctionDefinition,
  toFunctionDefinition,
} from "../tool_schemas/function_definition.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { isJsonObject, type JsonObject } from "../../platform/values/json.ts";
import { RESULT_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../platform/json/parse_json.ts";
import type { ModelRequest, ModelResponse } from "./model_port.ts";

/**
 * The answer schema of a request as providers enforce it: a closed schema with every field
 * required, which OpenAI, Anthropic and Gemini all accept. Null if the schema cannot be expressed
 * that way, or there is none.
 */
export function nativeOutput({ output }: Pick<ModelRequest, "output">): FunctionDefinition | null {
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
  return { ...response, text: originalText(response.text, definition) };
}

/** The text of an answer that was joined from parts, in the form of its schema. */
export function toOriginalText(text: string, schema: JsonObject): string {
  const definition = nativeOutput({ output: { schema, isBesideTools: false } });
  return definition === null ? text : originalText(text, definition);
}

function originalText(text: string, definition: FunctionDefinition): string {
  const value = parseJsonOrUndefined(text, RESULT_LIMITS);
  return isJsonObject(value) ? JSON.stringify(definition.toOriginal(value)) : text;
}
