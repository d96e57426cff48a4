import assert from "node:assert/strict";
import { unknownErrorCodes } from "./error_codes.ts";

const raise = (code: string) => `  perform private.raise_error('${code}', 'x', 'y');\n`;

Deno.test("unknownErrorCodes() accepts a listed code", () => {
  assert.deepEqual(unknownErrorCodes("a.sql", raise("TASK_NOT_FOUND")), []);
});

Deno.test("unknownErrorCodes() reports an unlisted code and an error with its own status", () => {
  assert.deepEqual(
    unknownErrorCodes("a.sql", raise("NO_SUCH_CODE") + "  raise sqlstate 'PT404' using\n"),
    [
      "a.sql: NO_SUCH_CODE is not in shared/platform/errors/codes.ts",
      "a.sql: an error is raised without private.raise_error()",
    ],
  );
});
