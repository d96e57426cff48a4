import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { ErrorCode } from "../../platform/errors/codes.ts";
import { isErrorCode } from "../../platform/errors/codes.ts";
import { classifySql } from "../sql/classify_sql.ts";
import type { StatementClass } from "../sql/verdict.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { definitionOf, whyOnlyProposed } from "./definition_call.ts";
import { type AdmittedStatement, fragmentAt, tablesOf } from "./judged_call.ts";
import { EXPLAIN_PREFIX, planCall, type StatementPlan } from "./plan_statement.ts";
import { policyOf, type SqlSettings } from "./sql_settings.ts";
import { statementFailure } from "./statement_error.ts";
import { statementRequest } from "./statement_request.ts";
import { withHint } from "../../platform/errors/with_hint.ts";

/** A statement that PostgreSQL plans for the caller. */
export interface ValidSql {
  readonly valid: true;
  /** The statement, without surrounding text. */
  readonly sql: string;
  readonly statementClass: StatementClass;
  readonly tables: readonly string[];
  readonly totalCost: number | null;
  readonly estimatedRows: number | null;
  readonly warnings: readonly string[];
}

/** A text that the parser, the SQL policy or PostgreSQL rejects. */
export interface InvalidSql {
  readonly valid: false;
  readonly statementClass: StatementClass;
  readonly code: ErrorCode;
  /** Everything that helps to fix it, in one line. */
  readonly error: string;
}

/** Errors that are not about the statement. */
const NOT_THE_STATEMENTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "CALLER_REQUIRED",
  "DATABASE_UNAVAILABLE",
  "INSUFFICIENT_SCOPE",
]);

/**
 * Checks a text like a dry run of `execute_sql`, without offering a confirmation. Nothing is run.
 *
 * @throws SwarmError for failures unrelated to the statement; the reason of an aborted signal.
 */
export async function validateSql(
  sql: string,
  context: ToolContext,
  settings: SqlSettings,
): Promise<ValidSql | InvalidSql> {
  const verdict = await classifySql(sql, policyOf(settings));
  const { statementClass, statement, findings: [finding] } = verdict;
  if (
    statement === null || statementClass === "forbidden" || statementClass === "multi" ||
    statementClass === "invalid"
  ) {
    const code = statementClass === "invalid" ? "SQL_INVALID" : "SQL_FORBIDDEN";
    const reason = finding?.reason ?? `it is ${statementClass}`;
    return refused(statementClass, code, reason, fragmentAt(sql, finding?.position ?? null));
  }
  if (statement.parameterCount > 0) {
    const reason = "the statement has parameters such as $1: write the values themselves";
    return refused(statementClass, "SQL_INVALID", reason, null);
  }
  const request = statementRequest.parse({ sql });
  const call = { request, context, settings, verdict, statement, statementClass };
  try {
    const { totalCost, estimatedRows, warnings } = await plan(call);
    const tables = tablesOf(statement);
    return {
      valid: true,
      sql: statement.text,
      statementClass,
      tables,
      totalCost,
      estimatedRows,
      warnings,
    };
  } catch (error) {
    context.signal.throwIfAborted();
    const failure = await statementFailure(call, error, EXPLAIN_PREFIX);
    if (failure instanceof SwarmError && NOT_THE_STATEMENTS.has(failure.code)) throw failure;
    const code = isErrorCode(failure.code) ? failure.code : "SQL_FAILED";
    return { valid: false, statementClass, code, error: describeFailure(failure) };
  }
}

/** The plan of a statement, or why its caller could only propose a definition as a migration. */
async function plan(call: AdmittedStatement): Promise<Omit<StatementPlan, "plan">> {
  const definition = definitionOf(call);
  const reason = definition === null ? null : await whyOnlyProposed(definition);
  if (reason === null) return await planCall(call);
  return { totalCost: null, estimatedRows: null, warnings: [reason] };
}

function refused(
  statementClass: StatementClass,
  code: ErrorCode,
  reason: string,
  fragment: string | null,
): InvalidSql {
  const near = fragment ? ` (near ${JSON.stringify(fragment)})` : "";
  return { valid: false, statementClass, code, error: `${reason}${near}` };
}

function describeFailure(
  failure: SwarmError | Exclude<Awaited<ReturnType<typeof statementFailure>>, SwarmError>,
): string {
  const { message, hint } = failure;
  if (failure instanceof SwarmError) return withHint(message, hint);
  const { sqlstate, fragment, detail, nearest_names: nearest } = failure;
  return [
    message,
    sqlstate === undefined ? "" : `(SQLSTATE ${sqlstate})`,
    fragment ? `near ${JSON.stringify(fragment)}` : "",
    detail === undefined ? "" : `Detail: ${detail}`,
    hint === undefined ? "" : `Hint: ${hint}`,
    nearest === undefined ? "" : `Similar names: ${nearest.join(", ")}`,
  ].filter((part) => part !== "").join(" ");
}
