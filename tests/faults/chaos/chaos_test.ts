import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { writeLine } from "../../../scripts/terminal.ts";
import { printFigures } from "../../postgres/race_fixture.ts";
import { findCommitOfSchema } from "./old_checkout.ts";
import type { Verdict } from "./verdict.ts";

const JOBS = 40;
const COMMAND = new URL("run_chaos.ts", import.meta.url).pathname;
const seed = await seedOfCommit();

Deno.test(`every job is complete after the faults of seed ${seed}`, async () => {
  const beside = await findCommitOfSchema();
  const { figures, violations, failures } = await runChaos(seed, beside);
  printFigures(figures);
  for (const failure of failures) writeLine(failure);

  const broken = Object.entries(violations).filter(([, count]) => count > 0);
  assert.deepEqual(Object.fromEntries(broken), {});
  // A run without faults proves nothing. On a busy machine, fewer faults hit their moment.
  assertAtLeast(figures, {
    kills: 20,
    zombies: 7,
    connection_cuts: 7,
    restarts: 1,
    cancelled_jobs: 6,
    lost_messages: 6,
    lost_deliveries: 60,
    stale_writes_refused: 7,
    ...beside !== undefined && { deliveries_to_old_workers: 40, tasks_of_both_versions: 10 },
  });
});

/**
 * Every commit explores other faults than the one before, and a repeated run of a commit the same.
 * Half of the workers run an older commit, whose database is the same.
 * `deno task chaos --seed N --masters 40` repeats it elsewhere.
 */
async function seedOfCommit(): Promise<number> {
  try {
    const git = new Deno.Command("git", { args: ["rev-parse", "HEAD"], cwd: PROJECT_ROOT });
    const { stdout } = await git.output();
    const hash = new TextDecoder().decode(stdout).slice(0, 6);
    return Number.parseInt(hash, 16) + 1 || 1;
  } catch {
    // Git is not installed.
    return 1;
  }
}

/**
 * Runs in a separate process, as by hand: the Postgres client throws where no test can catch it.
 */
async function runChaos(seed: number, beside: string | undefined): Promise<Verdict> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      COMMAND,
      "--seed",
      `${seed}`,
      "--masters",
      `${JOBS}`,
      "--json",
      ...beside === undefined ? [] : ["--beside", beside],
    ],
    cwd: PROJECT_ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).output();
  const line = new TextDecoder().decode(stdout);
  assert.notEqual(line, "", "the run printed no verdict");
  return JSON.parse(line);
}

function assertAtLeast(
  figures: Verdict["figures"],
  floors: Readonly<Record<string, number>>,
): void {
  const below = Object.entries(floors).filter(([name, floor]) => (figures[name] ?? 0) < floor);
  assert.deepEqual(below, [], `too few of ${below.map(([name]) => name).join(", ")}`);
}
