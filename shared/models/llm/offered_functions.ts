import { SwarmError } from "../../platform/errors/swarm_error.ts";
import {
  type FunctionDefinition,
  type FunctionTarget,
  toFunctionDefinition,
} from "../tool_schemas/function_definition.ts";
import { StepsSpentError } from "../tool_schemas/step_budget.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { MAX_MALFORMED_CHARS } from "./answer_builder.ts";
import type { ModelRequest, ModelResponse, ModelTool, ModelToolCall } from "./model_port.ts";

/** The tools of one request in a provider's form, and the mapping of calls back. */
export class OfferedFunctions {
  readonly #byName: ReadonlyMap<string, FunctionDefinition>;

  constructor({ tools, hasBasicTools = false }: ModelRequest, target: FunctionTarget) {
    const definitions = tools.flatMap((tool) => convert(tool, target, hasBasicTools));
    this.#byName = new Map(definitions.map((definition) => [definition.name, definition]));
  }

  get definitions(): readonly FunctionDefinition[] {
    return [...this.#byName.values()];
  }

  /** An earlier call as the model made it, for the conversation's history. */
  toProvided<T extends Pick<ModelToolCall, "name" | "arguments">>(call: T): T {
    const definition = this.#byName.get(call.name);
    if (definition === undefined || call.arguments === null) return call;
    const provided = whereDecided(call.arguments, definition.toProvided);
    return provided === null ? call : { ...call, arguments: provided };
  }

  /** The answer with its call arguments in the tools' own form. */
  toOriginal(response: ModelResponse): ModelResponse {
    const toolCalls = response.tool_calls.map((call) => {
      const definition = this.#byName.get(call.name);
      if (definition === undefined || call.arguments === null) return call;
      const original = whereDecided(call.arguments, definition.toOriginal);
      if (original !== null) return { ...call, arguments: original };
      const malformed = JSON.stringify(call.arguments).slice(0, MAX_MALFORMED_CHARS);
      const malformed_reason =
        "checking them takes too many steps.\nCall the tool again with less.";
      return { ...call, arguments: null, malformed, malformed_reason };
    });
    return { ...response, tool_calls: toolCalls };
  }
}

/** Null if the check would need more steps than allowed. */
function whereDecided(args: JsonObject, map: (args: JsonObject) => JsonObject): JsonObject | null {
  try {
    return map(args);
  } catch (error) {
    if (error instanceof StepsSpentError) return null;
    throw error;
  }
}

/** Tools are checked when they are listed; a tool that is still unusable is not offered. */
function convert(
  { name, description, inputSchema }: ModelTool,
  target: FunctionTarget,
  isBasic: boolean,
): FunctionDefinition[] {
  try {
    const tool = { name, description, inputSchema };
    return [toFunctionDefinition(tool, target, { isBasic })];
  } catch (error) {
    if (error instanceof SwarmError && error.code === "TOOL_CONFIG_INVALID") return [];
    throw error;
  }
}
