import assert from "node:assert/strict";
import { z } from "../../vendor/zod.js";
import { createQueryRunner } from "./query_runner.ts";

/** A database that is away for some time, asked under a lease of ten seconds. */
function askWhileAway(awayMs: number) {
  let nowMs = 0;
  const clock = {
    nowMs: () => nowMs,
    sleep: (durationMs: number) => {
      nowMs += durationMs;
      return Promise.resolve();
    },
  };
  const { withRetries } = createQueryRunner({ leaseSeconds: 10, clock });
  return withRetries("write the step", z.object({ done: z.boolean() }), () => {
    const lost = Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
    return nowMs < awayMs ? Promise.reject(lost) : Promise.resolve([{ done: true }]);
  });
}

Deno.test("withRetries repeats a query until the database answers again", async () => {
  assert.deepEqual(await askWhileAway(8_000), [{ done: true }]);
});

Deno.test("withRetries gives up when the lease has ended", async () => {
  await assert.rejects(askWhileAway(11_000), { code: "DATABASE_UNAVAILABLE" });
});
