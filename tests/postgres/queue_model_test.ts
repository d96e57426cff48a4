import assert from "node:assert/strict";
import { compareWithNative, prepareComparisons } from "../../lab/model/compare_with_native.ts";
import { startMigratedServer } from "./native_server.ts";
import { assertNoDeadlock, printFigures } from "./race_fixture.ts";

const PROGRAMS = 3;
const STEPS = 150;

Deno.test("sessions with held, rolled back and interleaved transactions do what the model does", async () => {
  await using server = await startMigratedServer();
  const { cluster: { url }, sql, admin } = server;
  const firstSeed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  await prepareComparisons(sql);
  let committed = 0;
  let waited = 0;
  for (let seed = firstSeed; seed < firstSeed + PROGRAMS; seed++) {
    const run = await compareWithNative({ url, sql, admin, seed, steps: STEPS });
    // The message names the seed: deno task model --seed N.
    assert.equal(run.difference, null, `seed ${seed}\n${run.trace.slice(-40).join("\n")}`);
    committed += run.committed;
    waited += run.waited;
  }
  printFigures({ first_seed: firstSeed, committed, waited });
  assert.ok(waited > 0, "no call has waited for another session");
  await assertNoDeadlock(server);
});
