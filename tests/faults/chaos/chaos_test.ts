import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { writeLine } from "../../../scripts/terminal.ts";
import { printFigures } from "../../postgres/race_fixture.ts";
import type { Verdict } from "./verdict.ts";

const SEEDS = [1, 2, 3];
const COMMAND = new URL("run_chaos.ts", import.meta.url).pathname;

for (const seed of SEEDS) {
  Deno.test(`every job is complete after the faults of seed ${seed}`, async () => {
    const { figures, violations, failures } = await runChaos(seed);
    printFigures(figures);
    for (const failure of failures) writeLine(failure);

    const broken = Object.entries(violations).filter(([, count]) => count > 0);
    assert.deepEqual(Object.fromEntries(broken), {});
    // A run without faults proves nothing.
    assertAtLeast(figures, {
      kills: 30,
      zombies: 30,
      connection_cuts: 10,
      restarts: 1,
      cancelled_jobs: 10,
      lost_messages: 10,
      lost_deliveries: 100,
      stale_writes_refused: 30,
    });
  });
}

/**
 * Runs in a separate process, as by hand: the Postgres client throws where no test can catch it.
 */
async function runChaos(seed: number): Promise<Verdict> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", COMMAND, "--seed", String(seed), "--json"],
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
