import type { TransactionSql } from "../../shared/vendor/postgres.js";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { isConnectionLoss } from "../database/connection_loss.ts";
import { lineAt, type SqlStatement } from "./split_statements.ts";

/**
 * Characters of statements that are sent as one. A round trip for each statement takes a sixth of
 * the processor time of a migration; a batch must end long before the limit of one statement.
 */
const BATCH_CHARS = 65_536;

/**
 * Runs the statements of a file in order, in the caller's transaction.
 *
 * @param onRun Gets how many characters of the statements have run.
 * @throws SwarmError `CONFIG_INVALID` with the file and the line of the statement that failed.
 */
export async function runFile(
  tx: TransactionSql,
  path: string,
  statements: readonly SqlStatement[],
  onRun: (chars: number) => void = () => {},
): Promise<void> {
  let chars = 0;
  for (const batch of batchesOf(statements)) {
    if (!await hasRunWhole(tx, batch)) await runEach(tx, path, batch);
    chars += batch.reduce((sum, { text }) => sum + text.length, 0);
    onRun(chars);
  }
}

/** Leaves no trace of a batch that fails. */
async function hasRunWhole(
  tx: TransactionSql,
  batch: readonly SqlStatement[],
): Promise<boolean> {
  // The semicolon is on a line of its own, because a statement may end with a comment.
  const text = batch.map((statement) => `${statement.text}\n;\n`).join("");
  return await tx.savepoint((sql) => sql.unsafe(text)).then(() => true, () => false);
}

function batchesOf(statements: readonly SqlStatement[]): readonly (readonly SqlStatement[])[] {
  const batches: SqlStatement[][] = [];
  let roomChars = 0;
  for (const statement of statements) {
    if (statement.text.length > roomChars) {
      batches.push([]);
      roomChars = BATCH_CHARS;
    }
    batches.at(-1)?.push(statement);
    roomChars -= statement.text.length;
  }
  return batches;
}

/** Runs a batch that failed as a whole again, to find the statement. */
async function runEach(
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

/** A lost connection says nothing about the file. */
function toFileError(error: unknown, path: string, statement: SqlStatement): unknown {
  if (isConnectionLoss(error)) return error;
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
