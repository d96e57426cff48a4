import assert from "node:assert/strict";
import { waitFor } from "../wait_for.ts";
import { showProgress } from "./show_progress.ts";

Deno.test("showProgress() says how many tests have run while no process ends", async () => {
  const lines: string[] = [];
  using progress = showProgress(3, (text) => lines.push(text), 10);

  progress.end("ok a_test.ts\n");
  progress.note("one ... ok (3ms)\ntwo ...\n  inner ... FAILED (1s)\nthree ... ignored (0ms)\n");
  await waitFor(() => lines.length > 1, { intervalMs: 1 });

  assert.equal(lines[0], "ok a_test.ts\n");
  assert.match(lines[1] ?? "", /after \d+ s 2 tests have run, 1 of 3 processes have ended\n$/);
});
