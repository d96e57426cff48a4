import { isJsonObject, type JsonObject } from "../../platform/values/json.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";
import { z } from "../../vendor/zod.js";

/** The content of a chat completion message: a text or, at some servers, a list of parts. */
export const openAiContent = z.union([z.string(), z.array(jsonObject)]).nullish();

type Content = z.infer<typeof openAiContent>;

/** The text of the answer, without its thoughts and other parts. */
export function answerTextOf(content: Content): string {
  return typeof content === "string" ? content : textOfParts(content ?? []);
}

/** The parts with the model's thoughts, as Mistral sends them: `{type: "thinking", thinking}`. */
export function thinkingPartsOf(content: Content): JsonObject[] {
  return typeof content === "string"
    ? []
    : (content ?? []).filter(({ type }) => type === "thinking");
}

/** The text of the thoughts in a part. */
export function thinkingTextOf(part: JsonObject): string {
  return textOfParts(innerParts(part));
}

/** Joins two parts with thoughts, such as those of a stream. */
export function joinThinking(begun: JsonObject, piece: JsonObject): JsonObject {
  const parts = [...innerParts(begun)];
  for (const next of innerParts(piece)) {
    const last = parts.at(-1);
    if (last?.type === "text" && next.type === "text") {
      parts[parts.length - 1] = { ...last, text: textOfParts([last, next]) };
    } else parts.push(next);
  }
  return { ...begun, ...piece, thinking: parts };
}

function innerParts({ thinking }: JsonObject): JsonObject[] {
  return Array.isArray(thinking) ? thinking.filter(isJsonObject) : [];
}

function textOfParts(parts: readonly JsonObject[]): string {
  return parts.map(({ type, text }) => type === "text" && typeof text === "string" ? text : "")
    .join("");
}
