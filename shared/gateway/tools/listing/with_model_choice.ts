import { asJsonObject, isJsonObject, type JsonObject } from "../../../platform/values/json.ts";
import type { ToolModelOptions } from "../../tool_contracts/tool_records.ts";

/**
 * A tool's schema with the providers that its row of `mcp_tool_models` supports as the values of
 * `llm_provider`, and with the row's defaults. They are not in the tool's own schema, because an
 * operator can change the row at any time.
 */
export function withModelChoice(schema: JsonObject, models: ToolModelOptions | null): JsonObject {
  const properties = asJsonObject(schema.properties);
  const { llm_provider: provider, llm_model: model } = properties;
  if (models === null || !isJsonObject(provider)) return schema;
  const { providers, default_provider, default_model } = models;
  const hasDefaultModel = isJsonObject(model) && default_model !== null;
  return {
    ...schema,
    properties: {
      ...properties,
      llm_provider: { ...provider, enum: providers, default: default_provider },
      ...(hasDefaultModel ? { llm_model: { ...model, default: default_model } } : {}),
    },
  };
}
