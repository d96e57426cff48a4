import type { Json } from "../../../client/mod.ts";

let start: Json | null = null;

/** Stores the arguments with which the tools page opens. */
export function keepStart(parameters: Json): void {
  start = parameters;
}

/** Returns the stored arguments once. */
export function claimStart(): Json | null {
  const kept = start;
  start = null;
  return kept;
}
