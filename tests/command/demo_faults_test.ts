import assert from "node:assert/strict";
import { join } from "node:path";
import { runDemo } from "../../scripts/demo/run_demo.ts";
import { TEST_DATABASE } from "../../scripts/test/test_database.ts";
import { makeFolder, QUEUE, QUIETLY } from "../e2e/demo_folder.ts";

Deno.test("the demo reports an unreadable file and continues without it", async () => {
  await using folder = await makeFolder({ "queue.md": QUEUE });
  await Deno.symlink(join(folder.path, "nowhere"), join(folder.path, "gone.md"));

  const result = await runDemo({ ...QUIETLY, db: TEST_DATABASE, folder: folder.path });

  assert.match(result.report, /1 of 2 documents were read/);
  assert.match(result.report, /gone\.md[^]*could not be read/);
  assert.match(result.report, /## The queue/);
  assert.equal(result.criteria.zero_credential_exposure, true);
});
