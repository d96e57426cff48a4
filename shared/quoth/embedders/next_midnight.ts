const DAY_MS = 86_400_000;

/**
 * When the next day begins in a time zone: a provider's quota of a day comes back then.
 *
 * @param timeZone An IANA name such as `America/Los_Angeles`.
 */
export function nextMidnight(nowMs: number, timeZone: string): Date {
  const today = dateIn(timeZone, nowMs);
  // Days have 23 to 25 hours, so the hour is looked for rather than computed.
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
