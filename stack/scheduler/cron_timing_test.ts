import assert from "node:assert/strict";
import { CronTimings } from "./cron_timing.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const everySecond = { jobid: "1", schedule: "1 second" };

function dueAt(timings: CronTimings, jobs: Parameters<CronTimings["takeDue"]>[0], ms: number) {
  return timings.takeDue(jobs, START + ms).map(({ jobid }) => jobid);
}

Deno.test("CronTimings counts an interval from when the job is first seen", () => {
  const timings = new CronTimings(1_000);

  assert.deepEqual(dueAt(timings, [everySecond], 0), []);
  assert.deepEqual(dueAt(timings, [everySecond], 999), []);
  assert.deepEqual(dueAt(timings, [everySecond], 1_000), ["1"]);
  assert.deepEqual(dueAt(timings, [everySecond], 1_001), []);
});

Deno.test("CronTimings keeps the schedule when ticks are a little late", () => {
  const timings = new CronTimings(1_000);
  dueAt(timings, [everySecond], 0);

  const runs = [1_300, 2_010, 3_020].flatMap((ms) => dueAt(timings, [everySecond], ms));

  assert.equal(runs.length, 3);
  assert.equal(timings.nextAt(), START + 4_000);
});

Deno.test("CronTimings skips missed runs after a gap", () => {
  const timings = new CronTimings(1_000);
  dueAt(timings, [everySecond], 0);

  assert.deepEqual(dueAt(timings, [everySecond], 60_000), ["1"]);
  assert.deepEqual(dueAt(timings, [everySecond], 60_001), []);
  assert.equal(timings.nextAt(), START + 61_000);
});

Deno.test("CronTimings restarts when the schedule changes and forgets a removed job", () => {
  const timings = new CronTimings(1_000);
  const slower = { ...everySecond, schedule: "30 seconds" };
  dueAt(timings, [everySecond], 0);

  assert.deepEqual(dueAt(timings, [slower], 5_000), []);
  assert.equal(timings.nextAt(), START + 35_000);
  dueAt(timings, [], 6_000);
  assert.equal(timings.nextAt(), Infinity);
});

Deno.test("CronTimings never runs a job with an invalid schedule", () => {
  const timings = new CronTimings(1_000);
  const broken = { jobid: "2", schedule: "whenever" };
  dueAt(timings, [broken], 0);

  assert.deepEqual(dueAt(timings, [broken], 86_400_000), []);
});
