import type { FunctionTarget } from "../../../shared/models/tool_schemas/function_definition.ts";
import {
  anthropicRules,
  geminiRules,
  openAiRules,
  openAiStrictRules,
  type ProviderRules,
} from "./provider_rules.ts";

/** The rules for a definition with this target. */
export function rulesFor(target: FunctionTarget, isStrict: boolean): ProviderRules {
  switch (target) {
    case "openai":
      return isStrict ? openAiStrictRules : openAiRules;
    case "anthropic":
      return anthropicRules;
    case "gemini":
      return geminiRules;
  }
}
