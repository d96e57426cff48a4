import type { ErrorCode } from "../../platform/errors/codes.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import type { Step } from "./task_context.ts";

/** How a tool call ended, as its step stores it. */
export interface StepResult {
  readonly state: Exclude<Step["state"], "started">;
  readonly output: JsonObject;
}

/** A result that is text for the model to read. */
export function textResult(text: string, extra: JsonObject = {}): StepResult {
  return { state: "done", output: { ...extra, text, is_error: false } };
}

/** An error that the model reads and may act on. */
export function errorResult(code: ErrorCode, text: string, extra: JsonObject = {}): StepResult {
  return { state: "failed", output: { ...extra, text, is_error: true, error_code: code } };
}

/** The result of a call that was never made because the model's request is invalid. */
export function rejectedResult(
  code: ErrorCode,
  text: string,
  extra: JsonObject = {},
): StepResult {
  return errorResult(code, text, { ...extra, rejected: true });
}

/** True if a stored output belongs to a call that was never made. */
export function isRejected(output: JsonValue | null): boolean {
  return isJsonObject(output) && output.rejected === true;
}

/** The error code of a stored output; null if it has none. */
export function errorCodeOf(output: JsonValue | null): string | null {
  const code = isJsonObject(output) ? output.error_code : null;
  return typeof code === "string" ? code : null;
}
