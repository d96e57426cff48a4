/**
 * A message with what to do next, as sentences. Messages of the product have no full stop at their
 * end; those of servers often do.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(withHint("No rows", "Widen the filter."), "No rows. Widen the filter.");
 * assert.equal(withHint("No rows.", "Widen the filter."), "No rows. Widen the filter.");
 * ```
 */
export function withHint(message: string, hint: string | null | undefined): string {
  if (!hint) return message;
  return /[.!?…]\s*$/.test(message) ? `${message.trimEnd()} ${hint}` : `${message}. ${hint}`;
}
