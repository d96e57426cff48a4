import type { JsonObject } from "../../../../client/mod.ts";

/** The parts of its agent that a job changed, such as `prompt, model`; empty for none. */
export function changedParts(changes: JsonObject | null): string {
  // Another model has no fallbacks, which nobody chose.
  return Object.keys(changes ?? {}).filter((name) => name !== "fallbacks").join(", ");
}
