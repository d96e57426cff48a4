import { textBlock } from "../../platform/values/content_block.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import type { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { isJsonObject } from "../../platform/values/json.ts";
import type {
  AnsweredCall,
  InputRequiredCall,
  ToolCallOutcome,
  UnknownCall,
} from "../tool_contracts/tool_call.ts";
import type { CallToolResult } from "../../vendor/mcp_client.js";
import { META_PREFIX, underBothNames } from "../tool_contracts/meta_keys.ts";
import { withHint } from "../../platform/errors/with_hint.ts";
import { withoutTrailing } from "../../platform/values/without_trailing.ts";

/**
 * A call's result in the form of the Model Context Protocol, also used by the plain JSON endpoint.
 */
export interface ToolCallResult {
  readonly content: JsonValue;
  readonly structuredContent?: JsonValue;
  readonly isError?: boolean;
  readonly _meta: JsonObject;
}

/** Facts about the tool that produced the result. */
export interface ResultOptions {
  /**
   * The client may validate the result's structure, and some clients do so for errors too: then
   * details of a failure are only in `_meta`.
   */
  readonly hasOutputSchema: boolean;
}

/** The result of a call that was answered. */
export function resultOfAnswer(
  answer: AnsweredCall,
  { hasOutputSchema }: ResultOptions,
): ToolCallResult {
  const error = errorOf(answer);
  const structured = structuredOf(answer.structured, error, hasOutputSchema);
  const isEmpty = answer.content.length === 0;
  return {
    content: (isEmpty ? [textBlock(answer.text)] : answer.content) as unknown as JsonValue,
    ...definedOnly({ structuredContent: structured }),
    ...(answer.isError ? { isError: true } : {}),
    _meta: {
      ...answer.meta,
      ...trailOf(answer),
      ...externalMeta(answer),
      ...failureOf(answer),
      ...errorMeta(error),
    },
  };
}

/** The result of a call whose answer was lost. */
export function resultOfUnknown(
  unknown: UnknownCall,
  { hasOutputSchema }: ResultOptions,
): ToolCallResult {
  const { errorCode, message, hint, details } = unknown;
  const error = {
    code: errorCode,
    message,
    hint,
    ...definedOnly({ details }),
  };
  return {
    content: [{ type: "text", text: withHint(message, hint) }],
    ...(hasOutputSchema ? {} : { structuredContent: { error } }),
    isError: true,
    _meta: {
      ...trailOf(unknown),
      ...externalMeta(unknown),
      ...failureOf(unknown),
      ...errorMeta(error),
    },
  };
}

/** The result that reports the gateway's refusal to a caller. */
export function resultOfRefusal(
  refusal: SwarmError,
  { hasOutputSchema }: ResultOptions,
): ToolCallResult {
  const { code, message, hint, retryAfterSeconds } = refusal;
  const error = {
    code,
    message,
    ...definedOnly({ hint, details: refusal.details }),
    ...(retryAfterSeconds === undefined
      ? {}
      : { retry_after_ms: Math.ceil(retryAfterSeconds * 1_000) }),
  };
  return {
    content: [{ type: "text", text: withHint(message, hint) }],
    ...(hasOutputSchema ? {} : { structuredContent: { error } }),
    isError: true,
    _meta: { error_code: code, ...trailIn(refusal.details), ...errorMeta(error) },
  };
}

/** The result in the SDK's own type, which is narrower than JSON. */
export function toSdkResult(result: ToolCallResult): CallToolResult {
  return result as unknown as CallToolResult;
}

/** The details of a failure that a feedback form and an SQL editor need. */
export function failureOf(
  answer: Pick<AnsweredCall, "errorCode" | "lastSql" | "consecutiveFailures">,
): JsonObject {
  return {
    ...definedOnly({
      error_code: answer.errorCode,
      last_sql: answer.lastSql,
      consecutive_failures: answer.consecutiveFailures,
    }),
  };
}

/** The ids of a refused call, if it was recorded. */
function trailIn(details: JsonValue | undefined): JsonObject {
  if (!isJsonObject(details) || details.feedback_token === undefined) return {};
  const { feedback_token, execution_id = null } = details;
  return underBothNames({ feedback_token, execution_id });
}

/** The `_meta` of a call that requests input, so that the request can be graded and found. */
export function metaOfAsking(asking: InputRequiredCall): JsonObject {
  return { ...asking.meta, ...trailOf(asking), ...externalMeta(asking) };
}

function trailOf({ feedbackToken, executionId, toolVersion }: ToolCallOutcome): JsonObject {
  return {
    ...underBothNames({ feedback_token: feedbackToken, execution_id: executionId }),
    ...definedOnly({ [`${META_PREFIX}tool_version`]: toolVersion }),
  };
}

/** An error of the product in a uniform format; a tool's own message stays unchanged. */
function errorOf(answer: AnsweredCall): JsonObject | null {
  const { errorCode, errorClass, retryAfterMs } = answer;
  if (errorCode === undefined) return null;
  return {
    code: errorCode,
    message: messageOf(answer),
    ...definedOnly({
      hint: answer.hint,
      class: errorClass,
      details: answer.details,
      retry_after_ms: retryAfterMs,
    }),
  };
}

function structuredOf(
  structured: JsonValue | undefined,
  error: JsonObject | null,
  hasOutputSchema: boolean,
): JsonValue | undefined {
  if (error === null || hasOutputSchema) return structured;
  return isJsonObject(structured) ? { ...structured, error } : { error };
}

function errorMeta(error: JsonObject | null): JsonObject {
  return error === null ? {} : { [`${META_PREFIX}error`]: error };
}

/** The text of a refusal without its hint, which is separate. */
export function messageOf({ text, hint }: Pick<AnsweredCall, "text" | "hint">): string {
  if (hint === undefined || !text.endsWith(hint)) return text;
  const message = withoutTrailing(text.slice(0, -hint.length), ". \t\r\n");
  const lastAttempt = "EXCEEDED_RETRIES:";
  return message.endsWith(lastAttempt) ? message.slice(0, -lastAttempt.length).trimEnd() : message;
}

/** Additional facts about a call to an external server. */
export function externalMeta({ external }: Pick<AnsweredCall, "external">): JsonObject {
  if (external === undefined) return {};
  const { responseTimeMs, originalError } = external;
  return {
    enhanced_by: "orchestrator",
    response_time: responseTimeMs,
    ...(originalError === undefined ? {} : { external_error: true, original_error: originalError }),
  };
}
