import assert from "node:assert/strict";
import { nextMidnight } from "./embedding_request.ts";

Deno.test("nextMidnight() returns the start of the zone's next day, on days of any length", () => {
  const cases = [
    ["2026-07-01T19:00:00Z", "America/Los_Angeles", "2026-07-02T07:00:00.000Z"],
    ["2026-01-01T07:59:59.999Z", "America/Los_Angeles", "2026-01-01T08:00:00.000Z"],
    ["2026-01-01T08:00:00Z", "America/Los_Angeles", "2026-01-02T08:00:00.000Z"],
    // Days of 23 and 25 hours.
    ["2026-03-08T08:00:00Z", "America/Los_Angeles", "2026-03-09T07:00:00.000Z"],
    ["2026-11-01T07:00:00Z", "America/Los_Angeles", "2026-11-02T08:00:00.000Z"],
    ["2026-05-05T23:30:00Z", "UTC", "2026-05-06T00:00:00.000Z"],
    ["2026-05-05T18:00:00Z", "Asia/Kolkata", "2026-05-05T18:30:00.000Z"],
  ] as const;
  for (const [now, zone, expected] of cases) {
    assert.equal(nextMidnight(Date.parse(now), zone).toISOString(), expected, `${now} ${zone}`);
  }
});
