import { z } from "../../vendor/zod.js";
import { SwarmError } from "../../errors/swarm_error.ts";
import type { JsonValue } from "../../json.ts";
import { type AdmittedCall, parametersOf, tablesOf } from "./judged_call.ts";
import { runGuarded, sendOne } from "./guarded_transaction.ts";
import { assertConfirmable } from "./offer_confirmation.ts";
import { returnedRows } from "./read_rows.ts";
import { hashOf, statementHashes } from "./statement_hashes.ts";
import { type StatementAnswer, statementAnswer } from "./statement_request.ts";

const spentSchema = z.object({ id: z.string(), max_rows: z.int() });

/**
 * Runs a confirmed write. Token, rows and answer are one transaction: the token is used if and only
 * if the write committed, and a repeated call gets the same answer.
 *
 * @throws SwarmError `CONFIRMATION_INVALID`, `APPROVAL_REQUIRED`, `SQL_ROW_LIMIT_EXCEEDED`; errors
 * of the database.
 */
export async function runWrite(call: AdmittedCall, token: string): Promise<StatementAnswer> {
  const { context, request, statement } = call;
  context.keepFromLedger(token);
  assertConfirmable(call);
  const earlier = await earlierAnswer(call);
  if (earlier !== null) return earlier;
  const { tree_hash: treeHash, params_hash: paramsHash } = statementHashes(call);
  return await runGuarded(call, false, async (sql) => {
    const [row] = await sql`
      select private.spend_sql_confirmation(
        ${hashOf(token)}, ${context.caller.clientId ?? ""}, ${treeHash}, ${paramsHash},
        ${context.idempotencyKey}
      ) as spent`;
    const { id, max_rows: maxRows } = spentSchema.parse(row?.spent);
    const result = await sendOne(sql, statement.text, parametersOf(request));
    const affectedRows = result.count ?? 0;
    if (affectedRows > maxRows) throw tooManyRows(affectedRows, maxRows);
    const { columns, rows, isTruncated } = await returnedRows(call, sql, result);
    const answer: StatementAnswer = {
      statement_class: call.statementClass,
      dry_run: false,
      statement: statement.text,
      tables: tablesOf(statement),
      affected_rows: affectedRows,
      ...(columns.length === 0
        ? {}
        : { columns, rows, row_count: rows.length, is_truncated: isTruncated }),
    };
    await sql`select private.keep_sql_answer(${id}, ${sql.json(answer as JsonValue)})`;
    return answer;
  });
}

/** The answer that this call stored before its worker died. */
async function earlierAnswer(call: AdmittedCall): Promise<StatementAnswer | null> {
  const { context: { sql, caller, idempotencyKey } } = call;
  if (caller.userId === null) return null;
  const { tree_hash: treeHash, params_hash: paramsHash } = statementHashes(call);
  const [row] = await sql`
    select private.find_sql_answer(
      ${caller.userId}, ${idempotencyKey}, ${treeHash}, ${paramsHash}
    ) as answer`;
  return statementAnswer.nullable().parse(row?.answer ?? null);
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
