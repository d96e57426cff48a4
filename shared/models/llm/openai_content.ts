import { isJsonObject, type JsonObject } from "../../platform/values/json.ts";

/** Whether a part has the model's thoughts, as Mistral sends them: `{type: "thinking", thinking}`. */
export function isThinkingPart({ type }: JsonObject): boolean {
  return type === "thinking";
}

/** The text of the thoughts in a part. */
export function thinkingTextOf(part: JsonObject): string {
  return textOfParts(innerParts(part));
}

/** Adds the thoughts in a part of a stream to those before it; texts are joined. */
export function addThinking(thoughts: JsonObject[], piece: JsonObject): void {
  for (const next of innerParts(piece)) {
    const last = thoughts.at(-1);
    if (last?.type === "text" && next.type === "text") {
      thoughts[thoughts.length - 1] = { ...last, text: textOfParts([last, next]) };
    } else thoughts.push(next);
  }
}

function innerParts({ thinking }: JsonObject): JsonObject[] {
  return Array.isArray(thinking) ? thinking.filter(isJsonObject) : [];
}

function textOfParts(parts: readonly JsonObject[]): string {
  return parts.map(({ type, text }) => type === "text" && typeof text === "string" ? text : "")
    .join("");
}
