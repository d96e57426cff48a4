import { readonly, ref } from "vue";

const LOCAL = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });
const DAY_CLOCK = new Intl.DateTimeFormat("en", {
  weekday: "short",
  hour: "2-digit",
  minute: "2-digit",
  hour12: false,
});
const DAY = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
const TICK_MS = 1_000;

const now = ref(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, TICK_MS);

/** The current time in milliseconds; it updates once a second while the page is visible. */
export const currentTime = readonly(now);

/** Date and time in the user's time zone. */
export function formatLocal(at: string | number): string {
  return LOCAL.format(new Date(at));
}

/** The same moment in UTC. */
export function formatUtc(at: string | number): string {
  return `${new Date(at).toISOString().replace("T", " ").replace(/\.\d+Z$/, "")} UTC`;
}

/** The local time of an interval; the weekday too within a week. */
export function formatClock(at: string, within: "hour" | "day" | "week"): string {
  return (within === "week" ? DAY_CLOCK : CLOCK).format(new Date(at));
}

/** A day of the usage views, which is a UTC day. */
export function formatDay(day: string): string {
  return DAY.format(new Date(`${day.slice(0, 10)}T00:00:00Z`));
}

/** How long ago, or how long from now. */
export function formatRelative(at: string | number, nowMs: number): string {
  const seconds = (new Date(at).getTime() - nowMs) / 1_000;
  const distance = Math.abs(seconds);
  if (distance < 5) return "just now";
  if (distance < 60) return RELATIVE.format(Math.round(seconds), "second");
  if (distance < 3_600) return RELATIVE.format(Math.round(seconds / 60), "minute");
  if (distance < 86_400) return RELATIVE.format(Math.round(seconds / 3_600), "hour");
  return RELATIVE.format(Math.round(seconds / 86_400), "day");
}

/** The day in the user's time zone, such as `2026-11-27`. */
export function localDay(at: number): string {
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
