import { SwarmClientError as RequestError } from "../../../client/mod.ts";

/** A request that the project refused or did not answer, in the form that pages show. */
export { RequestError };

/** A PostgREST error, with the id that {@linkcode watchedFetch} adds. */
export interface RestFailure {
  readonly message: string;
  readonly code?: string;
  readonly details?: string | null;
  readonly hint?: string | null;
}

/** A stable code that the project's SQL functions raise in `details`. */
const STABLE_CODE = /^[A-Z][A-Z0-9_]{2,}$/;

/** Returns the data of an answer. @throws RequestError */
export function dataOf<Data>(
  { data, error, status }: { data: Data; error: RestFailure | null; status?: number },
): NonNullable<Data> {
  if (error !== null) throw restError(error, status ?? 0);
  return data as NonNullable<Data>;
}

function restError(failure: RestFailure, status: number): RequestError {
  const { message, code, details, hint } = failure;
  if (status === 0) return unreachable(failure);
  const stable = details !== null && details !== undefined && STABLE_CODE.test(details);
  const requestId = (failure as { request_id?: unknown }).request_id;
  return new RequestError({
    code: stable ? details : code || `HTTP_${status}`,
    message,
    hint: hint ?? null,
    status,
    requestId: typeof requestId === "string" ? requestId : null,
    cause: failure,
  });
}

/** Converts any thrown value to an error that a page can show. */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof TypeError && /fetch|network/i.test(error.message)) return unreachable(error);
  const { message, code, status } = error as { message?: string; code?: string; status?: number };
  return new RequestError({
    code: code || "UNEXPECTED",
    message: message || "An unexpected error occurred",
    status: status ?? 0,
    cause: error,
  });
}

function unreachable(cause: unknown): RequestError {
  return new RequestError({
    code: "UNREACHABLE",
    message: "Cannot reach the project",
    hint:
      "Check that it is running and that this device is online. The page retries automatically.",
    cause,
  });
}
