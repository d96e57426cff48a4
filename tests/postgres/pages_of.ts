import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";

/** The pages that a statement with rows reads, which do not depend on the machine's load. */
export async function pagesOf(sql: Sql, statement: string): Promise<number> {
  const [row] = await sql.unsafe(
    `explain (analyze, buffers, timing off, format json) ${statement}`,
  );
  const [{ Plan: plan }] = Object(row)["QUERY PLAN"];
  assert.ok(plan["Actual Rows"] > 0, statement);
  return Number(plan["Shared Hit Blocks"]) + Number(plan["Shared Read Blocks"]);
}
