import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { type JobCost, KEPT_DAYS, monthlyUsd, monthlyUse } from "./monthly_use.ts";
import { PLANS } from "./plans.ts";

const JOB: JobCost = {
  invocations: 2,
  sentMessages: 50,
  traceBytes: 6_000,
  promptBytes: 4_000,
  jobBytes: 1_000,
  stepBytes: 1_000,
  eventBytes: 1_000,
  ledgerBytes: 1_000,
  modelCallBytes: 1_000,
  databaseCpuMs: 8.64,
  functionCpuMs: 86.4,
};

Deno.test("a month has thirty days of jobs, and the disk what retention keeps with its weeks", () => {
  const use = monthlyUse(JOB, { jobsPerDay: 1_000, watchedShare: 0.5 }, 50e6);

  assert.deepEqual(use.counts, {
    "million invocations": 0.06,
    "million messages": 1.5,
    "GB of database": (50e6 + 1_000 * 1_000 * (10 + 17 + 14 + 10 + 35)) / 1e9,
    "GB of egress": 0.3,
  });
  assert.equal(use.databaseCpuShare, 0.0001);
  assert.equal(use.functionCpuShare, 0.001);
  assert.equal(use.messagesPerSecond, 50_000 / 86_400);
});

Deno.test("only what exceeds a plan costs more, and Free sells nothing", () => {
  const [free, pro] = PLANS;
  assert.ok(free && pro);
  const use = monthlyUse(JOB, { jobsPerDay: 100_000, watchedShare: 0 }, 0);

  assert.equal(monthlyUsd(use, free), null);
  assert.equal(monthlyUsd(use, pro), 25 + (6 - 2) * 2 + (8.6 - 8) * 0.125);
  assert.equal(monthlyUsd(monthlyUse(JOB, { jobsPerDay: 10, watchedShare: 0 }, 0), free), 0);
});

Deno.test("the days that are kept are the defaults of the database", async () => {
  const source = await Deno.readTextFile(
    join(PROJECT_ROOT, "supabase", "schemas", "engine", "retention.sql"),
  );
  for (const [key, days] of Object.entries(KEPT_DAYS)) {
    assert.match(source, new RegExp(`"${key}": ${days}\\b`));
  }
});
