import type { TransactionSql } from "../../shared/vendor/postgres.js";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { lineAt, type SqlStatement } from "./split_statements.ts";

/**
 * Runs the statements of a file one by one, in the caller's transaction.
 *
 * @throws SwarmError `CONFIG_INVALID` with the file and the line of the statement that failed.
 */
export async function runFile(
  tx: TransactionSql,
  path: string,
  statements: readonly SqlStatement[],
): Promise<void> {
  for (const statement of statements) {
    try {
      await tx.unsafe(statement.text);
    } catch (error) {
      throw toFileError(error, path, statement);
    }
  }
}

/** The parts of a PostgreSQL error that help the author of a file. */
interface StatementFailure {
  readonly message: string;
  readonly code?: string;
  readonly hint?: string;
  /** Position in the statement in characters, from 1, as text. */
  readonly position?: string;
}

function toFileError(error: unknown, path: string, statement: SqlStatement): SwarmError {
  const failure = error as StatementFailure;
  const offset = failure.position === undefined ? 0 : Number(failure.position) - 1;
  const line = statement.line + lineAt(statement.text, offset) - 1;
  return new SwarmError(
    "CONFIG_INVALID",
    `Cannot apply ${path}, line ${line}: ${failure.message}`,
    {
      cause: error,
      details: { path, line, sqlstate: failure.code ?? null },
      hint: failure.hint ??
        "Correct the file and start again. No statement of this file was applied.",
    },
  );
}
