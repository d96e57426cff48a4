const DAY_MS = 86_400_000;

/** The last UTC days until a moment, oldest first, such as `2026-11-27`. */
export function lastDays(untilMs: number, count: number): readonly string[] {
  return Array.from(
    { length: count },
    (_, index) => new Date(untilMs - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
}
