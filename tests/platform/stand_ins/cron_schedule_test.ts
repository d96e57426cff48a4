import assert from "node:assert/strict";
import { recordedAnswers } from "./recorded_answers.ts";
import { nextRunAt, parseCronSchedule } from "../../../stack/scheduler/cron_schedule.ts";

function next(schedule: string, after: string): string | null {
  const parsed = parseCronSchedule(schedule);
  assert.notEqual(parsed, null, `'${schedule}' is not a schedule`);
  const at = parsed === null ? null : nextRunAt(parsed, Date.parse(after));
  return at === null ? null : new Date(at).toISOString().slice(0, 19);
}

for (
  const [schedule, after, expected] of [
    ["15 seconds", "2026-01-01T00:00:07Z", "2026-01-01T00:00:22"],
    ["1 second", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01"],
    ["* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00"],
    ["*/15 * * * *", "2026-01-01T00:01:30Z", "2026-01-01T00:15:00"],
    ["5-59/20 * * * *", "2026-01-01T00:26:00Z", "2026-01-01T00:45:00"],
    ["@hourly", "2026-01-01T00:26:00Z", "2026-01-01T01:00:00"],
    ["@daily", "2026-01-01T00:26:00Z", "2026-01-02T00:00:00"],
    ["@weekly", "2026-01-01T00:26:00Z", "2026-01-04T00:00:00"],
    ["@monthly", "2026-01-01T00:26:00Z", "2026-02-01T00:00:00"],
    ["@yearly", "2026-01-01T00:26:00Z", "2027-01-01T00:00:00"],
    ["@reboot", "2026-01-01T00:26:00Z", null],
    ["0 12 $ * *", "2026-01-31T12:00:00Z", "2026-02-28T12:00:00"],
    ["0 12 $ * mon", "2026-01-31T12:00:00Z", "2026-02-02T12:00:00"],
    ["5-1 * * * *", "2026-01-01T00:00:00Z", null],
    ["5-1,30 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:30:00"],
    ["0 0 * * fri-mon", "2026-01-01T00:00:00Z", null],
    ["7; 3 * * * ignored", "2026-01-01T00:00:00Z", "2026-01-01T03:07:00"],
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

/** Accepted and refused by the real pg_cron: tests/platform/stand_ins/answers. */
const PROBE =
  /^select cron\.schedule\('probe', (E?)'((?:[^']|'')*)', 'select 1'\) > 0 as is_taken$/;

for (const { statement, error } of await recordedAnswers("pg_cron")) {
  const [, escaped, quoted] = PROBE.exec(statement) ?? [];
  if (quoted === undefined) continue;
  const unquoted = quoted.replaceAll("''", "'");
  const text = escaped ? unquoted.replaceAll("\\n", "\n").replaceAll("\\t", "\t") : unquoted;
  Deno.test(`parseCronSchedule() ${error ? "refuses" : "reads"} ${JSON.stringify(text)}`, () => {
    assert.equal(parseCronSchedule(text) === null, error !== undefined);
  });
}
