import assert from "node:assert/strict";
import { nextRunAt, parseCronSchedule } from "./cron_schedule.ts";

function next(schedule: string, after: string): string | null {
  const parsed = parseCronSchedule(schedule);
  assert.notEqual(parsed, null, `'${schedule}' is no schedule`);
  const at = parsed === null ? null : nextRunAt(parsed, Date.parse(after));
  return at === null ? null : new Date(at).toISOString().slice(0, 19);
}

for (
  const [schedule, after, expected] of [
    ["15 seconds", "2026-01-01T00:00:07Z", "2026-01-01T00:00:22"],
    ["1 second", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01"],
    ["* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00"],
    ["*/15 * * * *", "2026-01-01T00:01:30Z", "2026-01-01T00:15:00"],
    ["5/20 * * * *", "2026-01-01T00:26:00Z", "2026-01-01T00:45:00"],
    ["0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-02T03:00:00"],
    ["10,20 8-9 * * *", "2026-01-01T08:20:00Z", "2026-01-01T09:10:00"],
    ["0 0 1 jan *", "2026-02-01T00:00:00Z", "2027-01-01T00:00:00"],
    ["0 0 * * Mon-Fri", "2026-01-02T12:00:00Z", "2026-01-05T00:00:00"],
    ["0 0 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00"],
    ["0 0 13 * fri", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00"],
    ["0 0 */2 * fri", "2026-01-01T00:00:00Z", "2026-01-09T00:00:00"],
    ["30 23 31 12 *", "2026-12-31T23:30:00Z", "2027-12-31T23:30:00"],
    ["0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00"],
    ["0 0 30 2 *", "2026-01-01T00:00:00Z", null],
  ] as const
) {
  Deno.test(`nextRunAt() of '${schedule}' after ${after} is ${expected}`, () => {
    assert.equal(next(schedule, after), expected);
  });
}

for (
  const text of [
    "",
    "60 seconds",
    "0 seconds",
    "* * * *",
    "* * * * * *",
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * * 13 *",
    "* * * foo *",
    "5-3 * * * *",
    "*/0 * * * *",
    "1,,2 * * * *",
  ]
) {
  Deno.test(`parseCronSchedule() refuses '${text}'`, () => {
    assert.equal(parseCronSchedule(text), null);
  });
}
