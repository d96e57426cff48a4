import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { type AdmittedCall, tablesOf } from "./judged_call.ts";
import { type Confirmation, createConfirmation } from "./sql_confirmation.ts";
import { statementHashes } from "./statement_hashes.ts";
import { runArguments, type StatementAnswer } from "./statement_request.ts";

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
 *
 * @throws SwarmError `SQL_FORBIDDEN` for a definition that the policy does not allow.
 */
export async function offerConfirmation(
  call: AdmittedCall,
  estimatedRows: number | null,
): Promise<Offer> {
  const { context, request, settings, statement, statementClass } = call;
  assertConfirmable(call);
  const maxRows = estimatedRows === null ? settings.max_affected_rows : Math.min(
    settings.max_affected_rows,
    Math.max(LEAST_BOUND_ROWS, Math.ceil(estimatedRows * ESTIMATE_FACTOR)),
  );
  const needsApproval = statementClass === "ddl"
    ? settings.definitions_need_approval
    : statement.lacksWhere && settings.unfiltered_writes_need_approval;
  const confirmation = await createConfirmation(context, {
    ...statementHashes(call),
    statement_class: statementClass,
    statement: statement.text,
    tables: tablesOf(statement),
    estimated_rows: estimatedRows === null ? null : Math.round(estimatedRows),
    max_rows: maxRows,
    needs_approval: needsApproval,
  });
  return {
    ...confirmation,
    needs_approval: needsApproval,
    max_affected_rows: maxRows,
    next_call: {
      ...runArguments(request),
      read_only: false,
      confirmation_token: confirmation.confirmation_token,
    },
  };
}

/** Refuses a definition whose kind is not in the policy, with any token. */
export function assertConfirmable({ settings, statement, statementClass }: AdmittedCall): void {
  if (statementClass !== "ddl" || settings.confirmable_definitions.includes(statement.kind)) return;
  throw new SwarmError(
    "SQL_FORBIDDEN",
    `Cannot run the statement: the SQL policy does not allow a ${statement.kind}`,
    { hint: "Use a migration, or ask an operator to add it to confirmable_definitions." },
  );
}
