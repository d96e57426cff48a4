import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { type AdmittedStatement, parametersOf, tablesOf } from "./judged_call.ts";
import { runGuarded, sendOne } from "./guarded_transaction.ts";
import { returnedRows } from "./read_rows.ts";
import { answerOnce, writeOnce } from "./sql_confirmation.ts";
import { confirmedStatement } from "./statement_hashes.ts";
import { type StatementAnswer, statementAnswer } from "./statement_request.ts";

/**
 * Runs a confirmed write. Token, rows and answer are one transaction: the token is used if and only
 * if the write committed, and a repeated call gets the same answer.
 *
 * @throws SwarmError `CONFIRMATION_INVALID`, `APPROVAL_REQUIRED`, `SQL_ROW_LIMIT_EXCEEDED`; errors
 * of the database.
 */
export async function runWrite(call: AdmittedStatement, token: string): Promise<StatementAnswer> {
  const { request, statement } = call;
  const confirmed = confirmedStatement(call, token);
  const run = () =>
    runGuarded(call, false, (sql) =>
      writeOnce(sql, confirmed, async (maxRows) => {
        const result = await sendOne(sql, statement.text, parametersOf(request));
        const affectedRows = result.count ?? 0;
        if (affectedRows > maxRows) throw tooManyRows(affectedRows, maxRows);
        const { columns, rows, isTruncated } = await returnedRows(call, sql, result);
        return {
          statement_class: call.statementClass,
          dry_run: false,
          statement: statement.text,
          tables: tablesOf(statement),
          affected_rows: affectedRows,
          ...(columns.length === 0
            ? {}
            : { columns, rows, row_count: rows.length, is_truncated: isTruncated }),
        };
      }));
  return await answerOnce(confirmed, statementAnswer, run);
}

function tooManyRows(affected: number, allowed: number): SwarmError {
  return new SwarmError(
    "SQL_ROW_LIMIT_EXCEEDED",
    `Cannot run the write: it would change ${affected} rows, but its dry run allows ${allowed}`,
    {
      hint: "Nothing was changed. Narrow the WHERE clause, or run ANALYZE if the planner's " +
        "estimate is wrong.",
    },
  );
}
