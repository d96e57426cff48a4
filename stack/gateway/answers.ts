import type { JsonValue } from "../../shared/platform/values/json.ts";

/** Returns a JSON response. */
export function jsonAnswer(
  status: number,
  body: JsonValue,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(body, { status, headers });
}

/** Returns an error in the shape of PostgREST. */
export function restError(status: number, code: string, message: string, hint?: string): Response {
  return jsonAnswer(status, { code, message, details: null, hint: hint ?? null });
}

/** Returns an error in the shape of Supabase Auth. */
export function authError(status: number, errorCode: string, message: string): Response {
  return jsonAnswer(status, { code: status, error_code: errorCode, msg: message });
}

/** Returns an error in the shape of Supabase Storage: HTTP 400 with the real status in the body. */
export function storageError(status: number, error: string, message: string): Response {
  const httpStatus = status === 500 ? 500 : 400;
  return jsonAnswer(httpStatus, { statusCode: String(status), error, message });
}

/** Returns an error of the gateway itself. */
export function gatewayError(
  status: number,
  code: string,
  message: string,
  hint: string,
): Response {
  return jsonAnswer(status, { error: { code, message, hint } });
}

/** Returns the response of every route while the database cannot be reached. */
export function databaseUnavailable(): Response {
  return jsonAnswer(503, {
    code: "DATABASE_UNAVAILABLE",
    message: "Cannot respond to the request: the database cannot be reached",
    details: null,
    hint: "The database is restarting. Try again in a few seconds.",
  }, { "retry-after": "2" });
}
