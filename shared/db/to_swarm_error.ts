import { definedOnly } from "../defined_only.ts";
import { isErrorCode } from "../errors/codes.ts";
import { SwarmError } from "../errors/swarm_error.ts";

/**
 * SQLSTATE classes and client codes that mean: the server cannot be reached, is going away, or gave
 * this transaction up for another's sake. The same call can succeed at once.
 */
const UNAVAILABLE =
  /^(08|40001|40P01|57P0[1-5]|53300|CONNECT|ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH)/;

/**
 * Turns whatever a query threw into a {@linkcode SwarmError}.
 *
 * The database raises `PT` + HTTP status with the stable code as detail; those pass on with their
 * message and hint. A lost connection is `DATABASE_UNAVAILABLE`. Anything else is `INTERNAL`, which
 * names the SQLSTATE but never the statement or its values.
 *
 * @param action What was tried, as in "claim tasks".
 */
export function toSwarmError(error: unknown, action: string): SwarmError {
  if (error instanceof SwarmError) return error;
  const { code, detail, hint, message } = fieldsOf(error);
  if (code.startsWith("PT") && isErrorCode(detail)) {
    return new SwarmError(detail, message, {
      cause: error,
      ...definedOnly({ hint }),
      ...retryAfter(code, hint),
    });
  }
  if (UNAVAILABLE.test(code)) {
    return new SwarmError(
      "DATABASE_UNAVAILABLE",
      `Cannot ${action}: the database does not answer`,
      {
        cause: error,
        hint: "Try again in a few seconds.",
        details: { reason: code },
      },
    );
  }
  return new SwarmError("INTERNAL", `Cannot ${action}: the database refused it`, {
    cause: error,
    details: { sqlstate: code || "unknown" },
  });
}

/** A refusal for now says in its hint for how long; Postgres has no field of its own for that. */
function retryAfter(code: string, hint = ""): { retryAfterSeconds?: number } {
  const seconds = code === "PT429" ? /^Try again in (\d{1,9}) seconds/.exec(hint)?.[1] : undefined;
  return seconds === undefined ? {} : { retryAfterSeconds: Number(seconds) };
}

interface ErrorFields {
  readonly code: string;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly message: string;
}

function fieldsOf(error: unknown): ErrorFields {
  const fields = typeof error === "object" && error !== null ? error : {};
  const text = (name: string): string | undefined => {
    const value: unknown = Reflect.get(fields, name);
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  return {
    code: text("code") ?? "",
    detail: text("detail"),
    hint: text("hint"),
    message: text("message") ?? String(error),
  };
}
