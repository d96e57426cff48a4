/** SQLSTATE classes of errors of the connection or the server, not of the statement. */
const SERVER_CLASSES = ["08", "53", "57", "58"];

/** Whether Postgres refused the statement itself, so that a retry would fail too. */
export function isStatementError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && error.name === "PostgresError" && "code" in error &&
    typeof error.code === "string" && !SERVER_CLASSES.includes(error.code.slice(0, 2));
}
