import { isJsonObject, type JsonObject } from "../../shared/platform/values/json.ts";
import type { WireForm } from "./recording.ts";

/** The format of an answer or of an event, by what it has; null for another one. */
export function wireFormOf(part: unknown): WireForm | null {
  if (!isJsonObject(part)) return null;
  const type = String(part.type ?? "");
  if (part.object === "response" || type.startsWith("response.")) return "responses";
  if (Array.isArray(part.choices)) return part.object === "text_completion" ? null : "chat";
  if (type === "message_start" || (type === "message" && Array.isArray(part.content))) {
    return part.role === "assistant" || isJsonObject(part.message) ? "anthropic" : null;
  }
  return Array.isArray(part.candidates) || isJsonObject(part.promptFeedback) ? "google" : null;
}

/** Server-sent events as a provider of this format sends them. */
export function toEventStream(form: WireForm, parts: readonly unknown[]): string {
  const events = parts.map((part) => {
    const name = isJsonObject(part) && (form === "anthropic" || form === "responses")
      ? `event: ${String(part.type)}\n`
      : "";
    return `${name}data: ${JSON.stringify(part)}\n\n`;
  });
  return events.join("") + (form === "chat" ? "data: [DONE]\n\n" : "");
}

/** The data of server-sent events. */
export function partsOfStream(body: string): unknown[] {
  return body.split(/\r?\n\r?\n/).flatMap((event) => {
    const data = event.split(/\r?\n/).flatMap((line) =>
      line.startsWith("data:") ? [line.slice(5).trim()] : []
    ).join("\n");
    return data === "" || data === "[DONE]" ? [] : [JSON.parse(data) as JsonObject];
  });
}
