import type { Pausable } from "../../queries/pauses.ts";

/** What is paused, as the object of a sentence. */
export function textOf({ kind, name }: Pausable): string {
  return kind === "project" ? "all new work" : `the ${kind} ${name}`;
}
