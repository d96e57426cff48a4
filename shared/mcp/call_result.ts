import { textBlock } from "../content_block.ts";
import { definedOnly } from "../defined_only.ts";
import type { SwarmError } from "../errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { isJsonObject } from "../json.ts";
import type {
  AnsweredCall,
  InputRequiredCall,
  ToolCallOutcome,
  UnknownCall,
} from "../tool_contracts/tool_call.ts";
import type { CallToolResult } from "../vendor/mcp_server.js";
import { META_PREFIX, underBothNames } from "../tool_contracts/meta_keys.ts";

/** A call's result as the Model Context Protocol has it, also of the plain JSON endpoint. */
export interface ToolCallResult {
  readonly content: JsonValue;
  readonly structuredContent?: JsonValue;
  readonly isError?: boolean;
  readonly _meta: JsonObject;
}

/** What is known of the tool whose result it is. */
export interface ResultOptions {
  /**
   * The client may hold the result's structure against a schema, and some do with errors too: what
   * the product says of a failure then stands in `_meta` alone.
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
    content: [{ type: "text", text: `${error.message}. ${error.hint}` }],
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

/** The result that tells a caller why the gateway refused. */
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
    content: [{ type: "text", text: hint === undefined ? message : `${message}. ${hint}` }],
    ...(hasOutputSchema ? {} : { structuredContent: { error } }),
    isError: true,
    _meta: { error_code: code, ...trailIn(refusal.details), ...errorMeta(error) },
  };
}

/** The result in the SDK's own type, which knows the protocol's blocks and nothing of JSON. */
export function toSdkResult(result: ToolCallResult): CallToolResult {
  return result as unknown as CallToolResult;
}

/** What a form for feedback and an editor for SQL need of a failure. */
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

/** The ids of a refused call, where it was one that is written down. */
function trailIn(details: JsonValue | undefined): JsonObject {
  if (!isJsonObject(details) || details.feedback_token === undefined) return {};
  const { feedback_token, execution_id = null } = details;
  return underBothNames({ feedback_token, execution_id });
}

/** The `_meta` of a call that asks its caller, so that the asking too can be graded and found. */
export function metaOfAsking(asking: InputRequiredCall): JsonObject {
  return { ...asking.meta, ...trailOf(asking), ...externalMeta(asking) };
}

function trailOf({ feedbackToken, executionId, toolVersion }: ToolCallOutcome): JsonObject {
  return {
    ...underBothNames({ feedback_token: feedbackToken, execution_id: executionId }),
    ...(toolVersion === undefined ? {} : { [`${META_PREFIX}tool_version`]: toolVersion }),
  };
}

/** An error of the product, in one form; what a tool says itself stays as it is. */
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

/** The text of a refusal without its hint, which is told apart. */
export function messageOf({ text, hint }: AnsweredCall): string {
  return hint !== undefined && text.endsWith(hint)
    ? text.slice(0, -hint.length).replace(/(\s*EXCEEDED_RETRIES:)?[.\s]+$/, "")
    : text;
}

/** What is told of a call because somebody else's server ran it. */
export function externalMeta({ external }: Pick<AnsweredCall, "external">): JsonObject {
  if (external === undefined) return {};
  const { responseTimeMs, originalError } = external;
  return {
    enhanced_by: "orchestrator",
    response_time: responseTimeMs,
    ...(originalError === undefined ? {} : { external_error: true, original_error: originalError }),
  };
}
