/** More than a day is a provider's mistake; then the queue's own limit applies. */
const MAX_RETRY_AFTER_SECONDS = 86_400;

/**
 * Reads the wait time that a server requested: `retry-after-ms` (milliseconds) or `retry-after`
 * (seconds or an HTTP date).
 *
 * @param nowMs The current time, for dates; milliseconds since the epoch.
 * @returns Seconds, at least 0 and at most a day; undefined if the headers contain no usable value.
 */
export function parseRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const milliseconds = toNumber(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return clamp(milliseconds / 1000);
  const text = headers.get("retry-after");
  const seconds = toNumber(text);
  if (seconds !== undefined) return clamp(seconds);
  const dateMs = text === null ? NaN : Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : clamp((dateMs - nowMs) / 1000);
}

/** Reads a protobuf duration such as `"7s"` or `"1.5s"` as seconds. */
export function parseDuration(text: string): number | undefined {
  return text.endsWith("s") ? toNumber(text.slice(0, -1)) : undefined;
}

function toNumber(text: string | null): number | undefined {
  if (text === null || text.trim() === "") return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

function clamp(seconds: number): number {
  return Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS);
}
