import assert from "node:assert/strict";
import { ERROR_CODES } from "../../shared/platform/errors/codes.ts";
import { errorCodesSource, errorsPage, unexplainedCodes } from "./error_tables.ts";

const PAGE = `# Errors

| code             | status | when           |
| ---------------- | ------ | -------------- |
| \`TASK_NOT_FOUND\` | 500    | there is none  |
| \`GONE_CODE\`      | 404    | it was removed |

More.
`;

Deno.test("errorsPage() keeps the usage column and takes everything else from the table", () => {
  const page = errorsPage(PAGE);
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));

  assert.equal(rows.length, Object.keys(ERROR_CODES).length);
  const found = rows.find((row) => row.includes("TASK_NOT_FOUND")) ?? "";
  assert.deepEqual(found.split("|").map((cell) => cell.trim()).slice(1, 7), [
    "`TASK_NOT_FOUND`",
    "404",
    "there is none",
    "`tool_error`",
    "no",
    "yes",
  ]);
  assert.doesNotMatch(page, /GONE_CODE/);
  assert.match(page, /^# Errors\n\n\| code /);
  assert.match(page, /\|\n\nMore\.\n$/);
  assert.equal(errorsPage(page), page);
});

Deno.test("unexplainedCodes() reports each code whose use the page does not explain", () => {
  const unexplained = unexplainedCodes(errorsPage(PAGE));

  assert.equal(unexplained.length, Object.keys(ERROR_CODES).length - 1);
  assert.ok(unexplained.includes("docs/errors.md does not explain when `INTERNAL` is used"));
});

Deno.test("errorCodesSource() writes each code to SQL once", () => {
  const sql = errorCodesSource();

  assert.match(sql, /\n {2}\('AUTHORIZATION_REQUIRED', 403, 'auth_error', false, false\),\n/);
  for (const code of Object.keys(ERROR_CODES)) {
    assert.equal(sql.split(`('${code}', `).length, 2, code);
  }
});
