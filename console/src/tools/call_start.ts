import type { Json } from "../../../shared/db/database.types.ts";

let start: Json | null = null;

/** Keeps the arguments with which the page of tools is to begin. */
export function keepStart(parameters: Json): void {
  start = parameters;
}

/** Gives the kept arguments once. */
export function claimStart(): Json | null {
  const kept = start;
  start = null;
  return kept;
}
