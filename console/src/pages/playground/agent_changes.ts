import type { AgentChanges } from "../../../../client/mod.ts";
import { canonicalJson } from "../../../../shared/platform/values/canonical_json.ts";
import type { JsonObject, JsonValue } from "../../../../shared/platform/values/json.ts";
import { withoutAbsent } from "../../../../shared/engine/definitions/agent_definition.ts";

/** The parts of an agent that a job can change. */
const TRIED: readonly string[] = [
  "prompt",
  "provider",
  "model",
  "temperature",
  "reasoning_effort",
  "tools",
];
/** The fields of the form, without the prompt, which has its own. */
export const TRIED_FIELDS = TRIED.filter((name) => name !== "prompt");

/** What a job has to change of an agent to run as drafted; null for nothing. */
export function agentChanges(base: JsonObject, drafted: JsonObject): AgentChanges | null {
  const changed = new Set(TRIED.filter((name) => differs(base[name], drafted[name])));
  if (changed.size === 0) return null;
  const { prompt, provider, model, temperature, reasoning_effort: effort, tools } = drafted;
  const isOtherModel = changed.has("provider") || changed.has("model");
  return withoutAbsent({
    prompt: changed.has("prompt") ? prompt : undefined,
    // A model belongs to its provider, so both are named.
    provider: isOtherModel ? provider : undefined,
    model: isOtherModel ? model : undefined,
    temperature: changed.has("temperature") ? temperature ?? null : undefined,
    reasoning_effort: changed.has("reasoning_effort") ? effort ?? null : undefined,
    tools: changed.has("tools") ? tools ?? [] : undefined,
  }) as AgentChanges;
}

/** Changes of a draft that a job cannot try, such as its output schema. */
export function untriedChanges(base: JsonObject, drafted: JsonObject): string[] {
  return [...new Set([...Object.keys(base), ...Object.keys(drafted)])]
    .filter((name) => !TRIED.includes(name) && differs(base[name], drafted[name]));
}

/** The agent with what a job has changed of it. */
export function withChanges(base: JsonObject, changes: JsonObject): JsonObject {
  // The agent keeps its fallbacks; only the try did without them.
  const { fallbacks: _fallbacks, ...parts } = changes;
  return Object.fromEntries(
    Object.entries({ ...base, ...parts }).filter(([, value]) => value !== null),
  );
}

function differs(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  return canonicalJson(before ?? null) !== canonicalJson(after ?? null);
}
