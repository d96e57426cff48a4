import assert from "node:assert/strict";
import { unknownErrorCodes } from "./error_codes.ts";

const raise = (status: number, detail: string) =>
  `  raise sqlstate 'PT${status}' using\n    message = 'x',\n    detail = '${detail}';\n`;

Deno.test("unknownErrorCodes() accepts a listed code with its status", () => {
  assert.deepEqual(unknownErrorCodes("a.sql", raise(404, "TASK_NOT_FOUND")), []);
});

Deno.test("unknownErrorCodes() reports an unlisted code and a code with another status", () => {
  assert.deepEqual(
    unknownErrorCodes("a.sql", raise(404, "NO_SUCH_CODE") + raise(500, "TASK_NOT_FOUND")),
    [
      "a.sql: NO_SUCH_CODE is not in shared/errors/codes.ts",
      "a.sql: TASK_NOT_FOUND is raised with 500, listed with 404",
    ],
  );
});
