import type { JsonValue } from "../../shared/json.ts";

/** A JSON answer. */
export function jsonAnswer(
  status: number,
  body: JsonValue,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(body, { status, headers });
}

/** An error in the shape of PostgREST. */
export function restError(status: number, code: string, message: string, hint?: string): Response {
  return jsonAnswer(status, { code, message, details: null, hint: hint ?? null });
}

/** An error in the shape of Supabase Auth. */
export function authError(status: number, errorCode: string, message: string): Response {
  return jsonAnswer(status, { code: status, error_code: errorCode, msg: message });
}

/** An error in the shape of Supabase Storage, which answers 400 and names the status in its body. */
export function storageError(status: number, error: string, message: string): Response {
  const httpStatus = status === 500 ? 500 : 400;
  return jsonAnswer(httpStatus, { statusCode: String(status), error, message });
}

/** The gateway's own refusal, for what belongs to no service. */
export function gatewayError(
  status: number,
  code: string,
  message: string,
  hint: string,
): Response {
  return jsonAnswer(status, { error: { code, message, hint } });
}

/** What every route answers while the database cannot be reached. */
export function databaseUnavailable(): Response {
  return jsonAnswer(503, {
    code: "DATABASE_UNAVAILABLE",
    message: "Cannot answer the request: the database cannot be reached",
    details: null,
    hint: "It is restarting; try again in a few seconds.",
  }, { "retry-after": "2" });
}
