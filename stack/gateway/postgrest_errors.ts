/** The fields of a postgres.js error that are used here. */
interface DatabaseError {
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
}

/** Error codes and classes for which the REST service already responds like PostgREST. */
const HANDLED = /^(PT|PGRST|42|22|21|55|23502|23503|23505|25006)/;

/**
 * HTTP status by error code or class, longest match first (PostgREST's documentation, "Errors").
 */
const STATUS_BY_CODE: readonly (readonly [prefix: string, status: number])[] = [
  ["P0001", 400],
  ["53400", 500],
  ["08", 503],
  ["09", 500],
  ["0L", 403],
  ["0P", 403],
  ["23", 400],
  ["25", 500],
  ["28", 403],
  ["2D", 500],
  ["38", 500],
  ["39", 500],
  ["3B", 500],
  ["40", 500],
  ["53", 503],
  ["54", 500],
  ["57", 500],
  ["58", 500],
  ["F0", 500],
  ["HV", 500],
  ["P0", 500],
  ["XX", 500],
];

/**
 * Converts a database error so that it gets PostgREST's HTTP status.
 *
 * For whole classes of errors (a failed check, a plain `raise`), the REST service responds with 500
 * and drops code, detail and hint. It honors an error `PGRST` that has status and body as JSON, so
 * such errors are converted to that form. Other errors are returned unchanged.
 */
export function withPostgrestStatus(error: unknown): unknown {
  if (!isDatabaseError(error) || HANDLED.test(error.code)) return error;
  const { code, message, detail = null, hint = null } = error;
  const status = STATUS_BY_CODE.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 400;
  return Object.assign(
    new Error(JSON.stringify({ code, message, details: detail, hint }), { cause: error }),
    { code: "PGRST", detail: JSON.stringify({ status, headers: {} }) },
  );
}

function isDatabaseError(error: unknown): error is DatabaseError {
  return error instanceof Error && "code" in error && typeof error.code === "string" &&
    /^[0-9A-Z]{5}$/.test(error.code);
}
