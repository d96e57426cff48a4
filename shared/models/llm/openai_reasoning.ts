import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";
import { z } from "../../vendor/zod.js";
import { listIn, textIn } from "./answer_fields.ts";
import { addThinking, isThinkingPart, thinkingTextOf } from "./openai_content.ts";

const providerDataSchema = z.object({
  api: z.literal("openai"),
  reasoning: z.string().exactOptional(),
  reasoning_content: z.string().exactOptional(),
  reasoning_details: z.array(jsonObject).exactOptional(),
  thinking: jsonObject.exactOptional(),
});

/** Members of a detail that stream in chunks. */
const STREAMED_MEMBERS = ["text", "summary", "data", "signature"];

/** The reasoning of one answer, assembled from its chunks. */
export class OpenAiReasoning {
  readonly #details: JsonObject[] = [];
  /** The position of each detail that has an index, by its index and type. */
  readonly #positions = new Map<string, number>();
  #reasoning = "";
  #reasoningContent = "";
  readonly #thoughts: JsonObject[] = [];
  #thinking: JsonObject | undefined;

  /**
   * Adds what a message has of it. The standard format has no reasoning; compatible servers use a
   * member of the message or a part of its content.
   */
  add(message: JsonObject): void {
    this.#reasoning += textIn(message.reasoning);
    this.#reasoningContent += textIn(message.reasoning_content);
    for (const detail of listIn(message.reasoning_details).filter(isJsonObject)) {
      this.#addDetail(detail);
    }
    for (const part of listIn(message.content).filter(isJsonObject).filter(isThinkingPart)) {
      addThinking(this.#thoughts, part);
      this.#thinking = { ...this.#thinking, ...part, thinking: this.#thoughts };
    }
  }

  /** For people to read; empty if the server reports nothing. */
  get text(): string {
    const text = this.#reasoning || this.#reasoningContent ||
      thinkingTextOf(this.#thinking ?? {});
    return text ||
      this.#details.map(({ text, summary }) => textIn(text) || textIn(summary)).join("");
  }

  /**
   * What the server requires in the next request: the form with signatures, if there are several.
   */
  toResponsesData(): JsonValue | undefined {
    if (this.#details.length > 0) return { api: "openai", reasoning_details: this.#details };
    if (this.#thinking !== undefined) return { api: "openai", thinking: this.#thinking };
    if (this.#reasoningContent !== "") {
      return { api: "openai", reasoning_content: this.#reasoningContent };
    }
    return this.#reasoning === "" ? undefined : { api: "openai", reasoning: this.#reasoning };
  }

  #addDetail(piece: JsonObject): void {
    const { index, type = null } = piece;
    const key = index === undefined ? "" : JSON.stringify([index, type]);
    const position = this.#positions.get(key) ?? this.#details.length;
    const begun = this.#details[position];
    this.#details[position] = begun === undefined ? piece : joined(begun, piece);
    if (key !== "") this.#positions.set(key, position);
  }
}

/**
 * The members of an earlier answer's message, with the reasoning that the server it came from
 * requires: as members of their own, or as a part of the content.
 */
export function withKeptReasoning(
  text: string,
  providerData: JsonValue | undefined,
): JsonObject & { content: string } {
  const kept = providerDataSchema.safeParse(providerData);
  if (!kept.success) return { content: text };
  const { api: _, thinking, ...members } = kept.data;
  if (thinking === undefined) return { content: text, ...members };
  const parts = [thinking, ...text === "" ? [] : [{ type: "text", text }]];
  // The SDK's type has no thinking parts, but it sends the content as it is.
  return { content: parts as unknown as string };
}

function joined(begun: JsonObject, piece: JsonObject): JsonObject {
  const given = Object.entries(piece).filter(([, value]) => value !== null);
  return {
    ...begun,
    ...Object.fromEntries(given.map(([key, value]) => {
      const isStreamed = STREAMED_MEMBERS.includes(key);
      return [key, isStreamed ? textIn(begun[key]) + textIn(value) : value];
    })),
  };
}
