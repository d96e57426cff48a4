import { expect, test } from "vitest";
import { type PastStatement, withoutPlansOfRuns } from "./statements.ts";

function past(sql: string, isDryRun: string | null): PastStatement {
  return {
    id: `${sql} ${isDryRun}`,
    sql,
    is_dry_run: isDryRun,
    status: "success",
    error_message: null,
    execution_time_ms: 1,
    created_at: "2026-11-27T09:00:00Z",
  };
}

test("a plan and the run after it are one row; a plan without a run stays", () => {
  const rows = [
    past("update b", null),
    past("select 1", "false"),
    past("update a", "false"),
    past("update a", null),
    past("update a", null),
  ];
  expect(withoutPlansOfRuns(rows).map(({ id }) => id)).toEqual([
    "update b null",
    "select 1 false",
    "update a false",
    "update a null",
  ]);
});
