import assert from "node:assert/strict";
import postgres from "../../../shared/vendor/postgres.js";
import { splitStatements } from "../../../stack/migrations/split_statements.ts";

/** A server's answer to one statement. */
export interface Answer {
  readonly statement: string;
  /** The rows, or the error. */
  readonly rows?: readonly unknown[];
  readonly error?: { readonly code: string; readonly message: string };
  readonly warnings?: readonly string[];
}

/**
 * Runs a file's statements in order in one session, as `psql` does, and returns the
 * server's answer to each. A failing statement does not stop the rest.
 */
export async function answerStatements(url: string, file: string): Promise<Answer[]> {
  let warnings: string[] = [];
  const sql = postgres(url, {
    max: 1,
    fetch_types: false,
    onnotice: ({ severity, message }) => {
      if (severity === "WARNING") warnings.push(message ?? "");
    },
  });
  try {
    const answers: Answer[] = [];
    for (const { text: statement } of splitStatements(file)) {
      warnings = [];
      const outcome = await answer(sql, statement);
      answers.push({ statement, ...outcome, ...warnings.length > 0 ? { warnings } : {} });
    }
    return answers;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function answer(sql: postgres.Sql, statement: string): Promise<Omit<Answer, "statement">> {
  try {
    const rows = await sql.unsafe(statement).simple();
    return { rows: rows.map((row) => ({ ...row })) };
  } catch (error) {
    if (!(error instanceof postgres.PostgresError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

/** The wording of a refusal differs between versions of the server, but its code does not. */
const DENIED = "42501";

/**
 * Asserts that a server's answers equal the record.
 *
 * @throws AssertionError that lists each statement with another answer.
 */
export function assertSameAnswers(actual: readonly Answer[], recorded: readonly Answer[]): void {
  assert.deepEqual(
    actual.map(({ statement }) => statement),
    recorded.map(({ statement }) => statement),
    "The record contains other statements: run tests/platform/stand_ins/record_answers.ts",
  );
  const deviations = actual.flatMap((answer, at) => {
    const expected = recorded[at];
    return expected === undefined || comparable(answer) === comparable(expected)
      ? []
      : [`${answer.statement}\n  real: ${comparable(expected)}\n  here: ${comparable(answer)}`];
  });
  assert.equal(deviations.length, 0, `\n${deviations.join("\n")}`);
}

function comparable({ rows, error, warnings }: Answer): string {
  return JSON.stringify({ rows, error: error?.code === DENIED ? DENIED : error, warnings });
}
