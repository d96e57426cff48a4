/** Lines and spaces may make a text this much longer. */
const MAX_GROWTH = 2;
/** A short value is always laid out. */
const SHORT_CHARACTERS = 1_000;

/**
 * A value as JSON for people to read: in lines, or without white space if lines would more than double
 * its length, as they do for deep values. `JSON.stringify(value, null, 2)` makes 19 MB of 98 KB.
 */
export function readableJson(value: unknown): string {
  const compact = JSON.stringify(value) ?? "";
  const spare = Math.max(SHORT_CHARACTERS, (MAX_GROWTH - 1) * compact.length);
  return whiteSpace(value, 0, spare) <= spare ? JSON.stringify(value, null, 2) ?? "" : compact;
}

/** How many characters the lines of a value add, counted until they are more than the spare ones. */
function whiteSpace(value: unknown, level: number, spare: number): number {
  if (typeof value !== "object" || value === null) return 0;
  const items = Object.values(value);
  if (items.length === 0) return 0;
  const perItem = 1 + 2 * (level + 1) + (Array.isArray(value) ? 0 : 1);
  let added = 1 + 2 * level + perItem * items.length;
  for (const item of items) {
    if (added > spare) return added;
    added += whiteSpace(item, level + 1, spare - added);
  }
  return added;
}
