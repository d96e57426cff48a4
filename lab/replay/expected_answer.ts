import { isJsonObject, type JsonObject } from "../../shared/platform/values/json.ts";
import type { Recording } from "./recording.ts";

/** What a recording says, read without our adapters. */
export interface ExpectedAnswer {
  readonly text: string;
  /** The functions that the model calls, in order. */
  readonly calls: readonly string[];
}

/** The answer of a recording; null if it is an error, or the model failed. */
export function expectedAnswer(recording: Recording): ExpectedAnswer | null {
  const { form, status, parts, next } = recording;
  if (status >= 400 || parts.some(isError)) return null;
  const pieces = parts.flatMap((part) => READERS[form](objectIn(part)));
  const text = pieces.map((piece) => piece.text ?? "").join("");
  const calls = pieces.flatMap(({ call }) => call === undefined ? [] : [call]);
  if (next === undefined || !parts.some(isPaused)) return { text, calls };
  const rest = expectedAnswer(next);
  return rest && { text: text + rest.text, calls: [...calls, ...rest.calls] };
}

interface Piece {
  readonly text?: string;
  readonly call?: string;
}

const READERS: Readonly<Record<Recording["form"], (part: JsonObject) => Piece[]>> = {
  chat: ({ choices }) => {
    const [choice] = listIn(choices);
    const message = objectIn(choice?.message ?? choice?.delta);
    const content = typeof message.content === "string"
      ? [{ text: message.content }]
      : listIn(message.content).map(({ text }) => ({ text: textIn(text) }));
    const refusal = content.length === 0 ? textIn(message.refusal) : "";
    const calls = listIn(message.tool_calls).flatMap((call) =>
      callIn(objectIn(call.function).name)
    );
    return [...content, { text: refusal }, ...calls];
  },
  responses: (part) => {
    // A stream repeats everything in its last event.
    if (part.object !== "response" && part.type !== "response.output_item.done") return [];
    const items = part.object === "response" ? listIn(part.output) : [objectIn(part.item)];
    return items.flatMap((item) =>
      item.type === "function_call"
        ? callIn(item.name)
        : item.type === "message"
        ? listIn(item.content).map(({ text, refusal }) => ({ text: textIn(text ?? refusal) }))
        : []
    );
  },
  anthropic: ({ content, content_block, delta }) =>
    [...listIn(content), objectIn(content_block), objectIn(delta)].flatMap(({ type, text, name }) =>
      type === "tool_use" ? callIn(name) : [{ text: textIn(text) }]
    ),
  google: ({ candidates, promptFeedback }) => [
    { text: textIn(objectIn(promptFeedback).blockReasonMessage) },
    ...listIn(objectIn(listIn(candidates)[0]?.content).parts).flatMap((part) =>
      isJsonObject(part.functionCall)
        ? callIn(part.functionCall.name)
        : part.thought === true
        ? []
        : [{ text: textIn(part.text) }]
    ),
  ],
};

function isError(part: unknown): boolean {
  const { error, type, status, response, candidates } = objectIn(part);
  return Boolean(error) || type === "error" || status === "failed" ||
    objectIn(response).status === "failed" ||
    FAILURES.includes(textIn(listIn(candidates)[0]?.finishReason));
}

/** Reasons with which Gemini reports that the model failed. */
const FAILURES = ["UNEXPECTED_TOOL_CALL", "MALFORMED_FUNCTION_CALL"];

/** The provider's own tools take longer than a request. */
function isPaused(part: unknown): boolean {
  const { stop_reason: reason, delta } = objectIn(part);
  return reason === "pause_turn" || objectIn(delta).stop_reason === "pause_turn";
}

function callIn(name: unknown): Piece[] {
  return typeof name === "string" && name !== "" ? [{ call: name }] : [];
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function objectIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
