import { type AdmittedStatement, tablesOf } from "./judged_call.ts";
import { type Confirmation, createConfirmation } from "./sql_confirmation.ts";
import { statementHashes } from "./statement_hashes.ts";
import { type StatementAnswer, writeArguments } from "./statement_request.ts";

/** What a dry run of a write returns in addition to the plan. */
export interface Offer
  extends
    Confirmation,
    Pick<StatementAnswer, "needs_approval" | "max_affected_rows" | "next_call"> {}

/**
 * A write may change this multiple of the planner's estimate, but always at least the minimum.
 * Without an estimate only the policy limits it.
 */
const ESTIMATE_FACTOR = 10;
const LEAST_BOUND_ROWS = 100;

/**
 * Stores the statement that the caller is about to see, and returns the token that runs it once.
 */
export async function offerConfirmation(
  call: AdmittedStatement,
  estimatedRows: number | null,
): Promise<Offer> {
  const { context, request, settings, statement, statementClass } = call;
  const maxRows = estimatedRows === null ? settings.max_affected_rows : Math.min(
    settings.max_affected_rows,
    Math.max(LEAST_BOUND_ROWS, Math.ceil(estimatedRows * ESTIMATE_FACTOR)),
  );
  const confirmation = await createConfirmation(context, {
    ...statementHashes(call),
    statement_class: statementClass,
    statement: statement.text,
    tables: tablesOf(statement),
    estimated_rows: estimatedRows === null ? null : Math.round(estimatedRows),
    max_rows: maxRows,
    needs_approval: needsApproval(call),
  });
  return {
    ...confirmation,
    needs_approval: needsApproval(call),
    max_affected_rows: maxRows,
    next_call: {
      ...writeArguments(request),
      confirmation_token: confirmation.confirmation_token,
    },
  };
}

/** Whether the SQL policy requires the owner's approval. */
export function needsApproval({ settings, statement, statementClass }: AdmittedStatement): boolean {
  return statementClass === "ddl"
    ? settings.definitions_need_approval
    : statement.lacksWhere && settings.unfiltered_writes_need_approval;
}
