import type { JsonLimits } from "../../../../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../../../../platform/json/parse_json.ts";
import { exactNumbers } from "../../../../../platform/json/exact_numbers.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../../../platform/values/json.ts";
import { readCallResult } from "./read_call_result.ts";
import { readOtherResult } from "./read_other_results.ts";
import { RPC_CODES } from "./rpc_codes.ts";

/** The request that a response belongs to. */
export interface SentRequest {
  readonly id: string | number;
  readonly method: string;
  /** The stateless protocol. */
  readonly isStateless: boolean;
  /** Of one message of the response. */
  readonly limits: JsonLimits;
}

/** More lines are not read, as are more events of a stream. */
const MAX_LINES = 10_000;

/**
 * The messages of a text, in the form of the protocol: one, several, or none that belongs to the
 * request. The text is one document, or one on each line, up to a line that is none.
 */
export function messagesIn(text: string, sent: SentRequest): JsonObject[] {
  const messages = messagesOfDocument(text, sent);
  if (messages !== null) return messages;
  const found: JsonObject[] = [];
  for (const line of text.split("\n", MAX_LINES).filter((line) => line.trim() !== "")) {
    const ofLine = line === text ? null : messagesOfDocument(line, sent);
    if (ofLine === null) break;
    found.push(...ofLine);
  }
  return found;
}

/** Null if the text is not one document. */
function messagesOfDocument(source: string, sent: SentRequest): JsonObject[] | null {
  const plain = parseJsonOrUndefined(source, sent.limits);
  const exact = plain === undefined || sent.method !== "tools/call" ? null : exactNumbers(source);
  const hasNumbersAsText = exact !== null && exact.count > 0;
  const value = hasNumbersAsText ? parseJsonOrUndefined(exact.text, sent.limits) : plain;
  if (value === undefined) return null;
  const messages = Array.isArray(value) ? value : [value];
  return messages.flatMap((message) => {
    const read = readMessage(message, sent, hasNumbersAsText);
    return read === null ? [] : [read];
  });
}

/** Whether a message is the error of the request. */
export function isErrorMessage(message: JsonObject): boolean {
  return message.error !== undefined;
}

function readMessage(
  message: JsonValue,
  sent: SentRequest,
  hasNumbersAsText: boolean,
): JsonObject | null {
  if (!isJsonObject(message)) return null;
  if (typeof message.method === "string") return readNotification(message);
  const { id = null, jsonrpc = null, result = null } = message;
  // Only one request was sent, so a response without an id can only be its own.
  if (id !== null && String(id) !== String(sent.id)) return null;
  const envelope = { jsonrpc: "2.0", id: sent.id };
  const hasResult = result !== null;
  const isEnvelope = jsonrpc !== null || hasResult;
  const error = readError(message.error, { hasResult, isEnvelope: isEnvelope || id !== null });
  if (error !== null) return { ...envelope, error };
  const isBareResult = "content" in message || "structuredContent" in message;
  if (!isEnvelope && !isBareResult) return null;
  const raw = isEnvelope ? result : message;
  const { isStateless, method } = sent;
  return {
    ...envelope,
    result: method === "tools/call"
      ? readCallResult(raw, { isStateless, hasNumbersAsText })
      : readOtherResult(method, raw, isStateless),
  };
}

/** A message that the server sends beside its response. */
function readNotification({ params, id = null, ...message }: JsonObject): JsonObject {
  return {
    ...message,
    jsonrpc: "2.0",
    ...(id === null ? {} : { id }),
    ...(isJsonObject(params) ? { params } : {}),
  };
}

function readError(
  given: JsonValue | undefined,
  { hasResult, isEnvelope }: { readonly hasResult: boolean; readonly isEnvelope: boolean },
): JsonObject | null {
  if (typeof given === "string" && given !== "") {
    if (hasResult) return null;
    // In a body of the server's own form, it is not an error of the tool.
    return { code: isEnvelope ? RPC_CODES.serverError : RPC_CODES.invalidRequest, message: given };
  }
  if (!isJsonObject(given)) return null;
  const { code = null, message = null, data = null } = given;
  if (hasResult && code === null && message === null) return null;
  const number = Number(code ?? Number.NaN);
  return {
    code: Number.isSafeInteger(number) ? number : RPC_CODES.serverError,
    message: typeof message === "string" && message !== "" ? message : JSON.stringify(given),
    ...(data === null ? {} : { data }),
  };
}
