/**
 * Levels of nesting that are taken over from outside. Deeper values break what walks them: our own
 * recursion and the parser of Postgres.
 */
const MAX_JSON_DEPTH = 200;

/** Whether a parsed JSON value has more levels of arrays and objects than are taken over. */
export function isNestedTooDeep(value: unknown): boolean {
  return exceeds(value, MAX_JSON_DEPTH);
}

function exceeds(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => exceeds(item, levels - 1));
}
