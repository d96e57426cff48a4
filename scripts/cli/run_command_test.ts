import assert from "node:assert/strict";
import { assertDenoVersion, CommandError } from "./run_command.ts";

Deno.test("assertDenoVersion() refuses an older Deno and says how to get a newer one", () => {
  assert.throws(
    () => assertDenoVersion("2.6.10"),
    (error) =>
      error instanceof CommandError &&
      /Deno 2\.6\.10: SupaSwarm needs [\d.]+ or newer\. Run deno upgrade, or .*npx -y deno@/.test(
        error.message,
      ),
  );
  assertDenoVersion(Deno.version.deno);
  assertDenoVersion("3.0.0");
});
