import { asJsonObject, type JsonObject } from "../json.ts";

/**
 * The models that a tool lets its caller choose from, read from its arguments `llm_provider` and
 * `llm_model`: `{providers, default_provider, models, default_model}`, each null where the tool does
 * not say. Null for a tool that offers no choice.
 */
export function modelOptionsOf(inputSchema: JsonObject): JsonObject | null {
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
