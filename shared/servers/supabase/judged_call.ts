import type { JsonValue } from "../../platform/values/json.ts";
import type { ToolContext } from "../../gateway/tool_contracts/internal_server.ts";
import { sqlName } from "../sql/schema/quote_name.ts";
import type { SqlStatement, SqlVerdict } from "../sql/verdict.ts";
import type { SqlSettings } from "./sql_settings.ts";
import { DocumentParameter, type StatementParameter } from "./document_parameter.ts";
import type { StatementRequest } from "./statement_request.ts";

/** A call of `execute_sql` with the policy's decision about its statement. */
export interface JudgedCall {
  readonly request: StatementRequest;
  readonly context: ToolContext;
  readonly settings: SqlSettings;
  readonly verdict: SqlVerdict;
}

/** A call whose statement the policy allows, according to its text. */
export interface AdmittedStatement extends JudgedCall {
  readonly statement: SqlStatement;
  readonly statementClass: "read" | "write" | "ddl";
}

/** Tables of a statement as SQL writes them. */
export function tablesOf({ named }: SqlStatement): string[] {
  return named.relations.map(sqlName);
}

/** The text at a position, for a message. */
export function fragmentAt(text: string, position: number | null): string | null {
  const FRAGMENT_CHARACTERS = 60;
  return position === null ? null : text.slice(position, position + FRAGMENT_CHARACTERS);
}

/**
 * Parameters in the form that the driver accepts; objects and lists become
 * {@linkcode DocumentParameter}s.
 */
export function parametersOf({ params }: StatementRequest): StatementParameter[] {
  return params.map((value: JsonValue) =>
    typeof value === "object" && value !== null ? new DocumentParameter(value) : value
  );
}
