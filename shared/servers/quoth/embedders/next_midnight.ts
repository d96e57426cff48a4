const DAY_MS = 86_400_000;

/**
 * The start of the next day in a time zone, when a provider's daily quota resets.
 *
 * @param timeZone An IANA name such as `America/Los_Angeles`.
 */
export function nextMidnight(nowMs: number, timeZone: string): Date {
  const today = dateIn(timeZone, nowMs);
  // Days have 23 to 25 hours, so the hour is searched, not computed.
  let before = nowMs;
  let after = nowMs + DAY_MS + 2 * 3_600_000;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dateIn(timeZone, middle) === today) before = middle;
    else after = middle;
  }
  return new Date(after);
}

function dateIn(timeZone: string, atMs: number): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" }).format(atMs);
}
