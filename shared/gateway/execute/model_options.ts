import { asJsonObject, type JsonObject } from "../../platform/values/json.ts";
import type { ToolModelOptions } from "../tool_contracts/tool_records.ts";

/**
 * The models that a tool lets its caller choose from: `{providers, default_provider, models,
 * default_model, models_by_provider}`, from the tool's row in `mcp_tool_models`. For a tool without
 * a row, such as an external one, derived from its arguments `llm_provider` and `llm_model`, with
 * null for missing values; null for a tool without a choice.
 */
export function modelOptionsOf(
  inputSchema: JsonObject,
  row: ToolModelOptions | null,
): JsonObject | null {
  if (row !== null) {
    return { ...row, models: [...new Set(Object.values(row.models_by_provider).flat())] };
  }
  const { llm_provider: provider, llm_model: model } = asJsonObject(inputSchema.properties);
  if (provider === undefined && model === undefined) return null;
  const ofProvider = optionsOf(asJsonObject(provider));
  const ofModel = optionsOf(asJsonObject(model));
  return {
    providers: ofProvider.names,
    default_provider: ofProvider.standard,
    models: ofModel.names,
    default_model: ofModel.standard,
  };
}

function optionsOf({ enum: names, default: standard }: JsonObject) {
  return {
    names: Array.isArray(names) ? names.filter((name) => typeof name === "string") : null,
    standard: typeof standard === "string" ? standard : null,
  };
}
