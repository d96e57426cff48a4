import assert from "node:assert/strict";
import postgres from "../../shared/vendor/postgres.js";
import { splitStatements } from "../../stack/migrations/split_statements.ts";

/** What a server answered to one statement. */
export interface Answer {
  readonly statement: string;
  /** The rows, or what went wrong. */
  readonly rows?: readonly unknown[];
  readonly error?: { readonly code: string; readonly message: string };
  readonly warnings?: readonly string[];
}

/**
 * Runs a file's statements one after the other in one session, as `psql` does, and returns what
 * the server answered to each. A statement that fails does not stop the rest.
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

/** A refusal's wording differs between versions of the server where its code does not. */
const DENIED = "42501";

/**
 * Asserts that a server answers the statements as the record says.
 *
 * @throws AssertionError that lists each statement that was answered differently.
 */
export function assertSameAnswers(actual: readonly Answer[], recorded: readonly Answer[]): void {
  assert.deepEqual(
    actual.map(({ statement }) => statement),
    recorded.map(({ statement }) => statement),
    "The record is of other statements: run tests/platform/record_answers.ts",
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
