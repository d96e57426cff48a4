/**
 * Maximum nesting of untrusted values. Deeper values break recursive code: our own and PostgreSQL's
 * parser.
 */
const MAX_JSON_DEPTH = 200;

/** Whether a parsed JSON value has more levels of arrays and objects than allowed. */
export function isNestedTooDeep(value: unknown): boolean {
  return exceeds(value, MAX_JSON_DEPTH);
}

function exceeds(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => exceeds(item, levels - 1));
}
