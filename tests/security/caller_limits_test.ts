import assert from "node:assert/strict";
import { runAsUser } from "../../shared/platform/db/run_as_user.ts";
import { TEST_DATABASE } from "../../scripts/test/test_database.ts";
import { noAbort, openToolFixture } from "../gateway/tools/tool_fixture.ts";

Deno.test("the session of a caller has limited memory and temporary files", async () => {
  await using fixture = await openToolFixture();
  const { sql } = fixture;
  const transaction = {
    userId: await fixture.createUser(),
    isReadOnly: true,
    statementTimeoutMs: 5_000,
    signal: noAbort(),
  };
  const [limits] = await runAsUser(sql, transaction, async (asCaller) =>
    await asCaller`
      select current_setting('work_mem') as memory, current_setting('hash_mem_multiplier') as factor,
        current_setting('max_parallel_workers_per_gather') as workers,
        current_setting('temp_file_limit') as files`);

  // PGlite has no logins, so a login's settings have no effect.
  const [may] = TEST_DATABASE === "pglite"
    ? [{ files: false }]
    : await sql`select has_parameter_privilege('temp_file_limit', 'set') as files`;
  assert.deepEqual({ ...limits }, {
    memory: "4MB",
    factor: "1",
    workers: "0",
    files: may?.files ? "1GB" : "-1",
  });
});
