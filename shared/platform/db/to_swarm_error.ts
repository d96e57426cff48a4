import { definedOnly } from "../values/defined_only.ts";
import { isErrorCode } from "../errors/codes.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { errorField } from "./error_field.ts";

/**
 * SQLSTATE classes and client codes for an unreachable or stopping server, or a transaction aborted
 * in favor of another. The same call can succeed immediately.
 */
const UNAVAILABLE =
  /^(08|40001|40P01|57P0[1-5]|53300|CONNECT|ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH)/;

/**
 * Converts an exception of a query to a {@linkcode SwarmError}.
 *
 * The database raises `PT` + HTTP status with the stable code as detail; these keep their message
 * and hint. A lost connection is `DATABASE_UNAVAILABLE`. Anything else is `INTERNAL`, which names
 * the SQLSTATE but never the statement or its values.
 *
 * @param action The attempted action, such as "claim tasks".
 */
export function toSwarmError(error: unknown, action: string): SwarmError {
  if (error instanceof SwarmError) return error;
  const code = errorField(error, "code") ?? "";
  const detail = errorField(error, "detail");
  const hint = errorField(error, "hint");
  if (code.startsWith("PT") && isErrorCode(detail)) {
    return new SwarmError(detail, errorField(error, "message") ?? String(error), {
      cause: error,
      ...definedOnly({ hint }),
      ...retryAfter(code, hint),
    });
  }
  if (UNAVAILABLE.test(code)) {
    return new SwarmError(
      "DATABASE_UNAVAILABLE",
      `Cannot ${action}: the database does not respond`,
      {
        cause: error,
        hint: "Try again in a few seconds.",
        details: { reason: code },
      },
    );
  }
  return new SwarmError("INTERNAL", `Cannot ${action}: the database rejected it`, {
    cause: error,
    details: { sqlstate: code || "unknown" },
  });
}

/** A temporary refusal has the wait time in its hint, because PostgreSQL has no field for it. */
function retryAfter(code: string, hint = ""): { retryAfterSeconds?: number } {
  const seconds = code === "PT429" ? /^Try again in (\d{1,9}) seconds/.exec(hint)?.[1] : undefined;
  return seconds === undefined ? {} : { retryAfterSeconds: Number(seconds) };
}

/** Runs queries and converts their exceptions with {@linkcode toSwarmError}. */
export async function attempt<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toSwarmError(error, action);
  }
}
