import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { Duration } from "./workflow.ts";

const UNITS: Readonly<Record<string, number>> = {
  s: 1,
  second: 1,
  m: 60,
  min: 60,
  minute: 60,
  h: 3_600,
  hour: 3_600,
  d: 86_400,
  day: 86_400,
  w: 604_800,
  week: 604_800,
};
const FORM = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+?)s?\s*$/;
/** Ten years: dates far beyond it cannot be stored. */
const MAX_SECONDS = 315_360_000;

/** Seconds of a duration. @throws STEP_INVALID */
export function secondsOf(duration: Duration): number {
  const [, amount, unit = ""] = typeof duration === "string" ? FORM.exec(duration) ?? [] : [];
  const seconds = typeof duration === "number"
    ? duration
    : Number(amount) * (UNITS[unit] ?? (unit === "" ? UNITS.s ?? NaN : NaN));
  if (seconds >= 0 && seconds <= MAX_SECONDS) return seconds;
  throw new SwarmError("STEP_INVALID", `Cannot wait: ${JSON.stringify(duration)} is no duration`, {
    hint: 'Give seconds, or a text such as "90 s", "15 minutes" or "3 days", of at most ten years.',
  });
}
