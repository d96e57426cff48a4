/**
 * Started by upgrade_test.ts with the sources of one release: a worker process that begins to work,
 * as the function does, once the database has its release. It prints `refused` and `ready`.
 */
import { createReleaseCheck } from "../../shared/app/release_check.ts";
import { SCHEMA_VERSION } from "../../shared/platform/db/schema_version.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { writeLine } from "../../scripts/terminal.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { Swarm } from "../engine/worker/swarm_fixture.ts";

const [url = ""] = Deno.args;
const swarm = Swarm.attach(url);
const check = createReleaseCheck(swarm.sql, () => {});
let refusals = 0;
await waitFor(async () => {
  try {
    await check();
    return true;
  } catch (error) {
    if (!(error instanceof SwarmError) || error.code !== "SCHEMA_OUTDATED") throw error;
    if (refusals++ === 0) writeLine("refused");
    return false;
  }
}, { what: `release ${SCHEMA_VERSION}`, timeoutMs: 600_000 });
writeLine("ready");
const worker = swarm.startWorker({
  model: ({ prompt: { messages } }) =>
    messages.length === 1
      ? {
        calls: [{
          name: "save_intermediate_data",
          arguments: { key: "by", value: SCHEMA_VERSION },
        }],
      }
      : { calls: [{ name: "complete_task", arguments: { output: SCHEMA_VERSION } }] },
  idleSeconds: 3_600,
  wallClockSeconds: 86_400,
  // Nobody starts a successor here.
  isCpuLimited: false,
});
await worker.ended;
