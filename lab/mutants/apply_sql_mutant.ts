import { nameOf, type SqlMutant } from "./mutant.ts";

/** The statements that break a function, and that mend it. */
export interface SqlPatch {
  readonly apply: string;
  readonly undo: string;
}

/** @param definition What `pg_get_functiondef()` returns. */
export function patchOf(mutant: SqlMutant, definition: string): SqlPatch {
  const { text, replacement } = mutant;
  if (!definition.includes(text)) throw new Error(`"${nameOf(mutant)}" does not find its text`);
  return { apply: definition.replaceAll(text, () => replacement), undo: definition };
}
