/**
 * Maximum nesting of untrusted values. Deeper values break recursive code, and no program needs
 * them. `private.is_within_limits()` has the same limit.
 */
export const MAX_JSON_DEPTH = 64;

/** Whether a parsed JSON value has more levels of arrays and objects than allowed. */
export function isNestedTooDeep(value: unknown): boolean {
  return exceeds(value, MAX_JSON_DEPTH);
}

function exceeds(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => exceeds(item, levels - 1));
}
