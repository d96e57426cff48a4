import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";
import { z } from "../../vendor/zod.js";
import { joinThinking, thinkingPartsOf, thinkingTextOf } from "./openai_content.ts";

/**
 * The reasoning fields of a chat completion message. The standard format has none; compatible
 * servers use one of these.
 */
export interface ReasoningPiece {
  readonly reasoning?: string | null | undefined;
  readonly reasoning_content?: string | null | undefined;
  readonly reasoning_details?: readonly JsonObject[] | null | undefined;
  /** May contain thinking parts. */
  readonly content?: string | JsonObject[] | null | undefined;
}

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
  #reasoning = "";
  #reasoningContent = "";
  #thinking: JsonObject | undefined;

  add(piece: ReasoningPiece): void {
    this.#reasoning += piece.reasoning ?? "";
    this.#reasoningContent += piece.reasoning_content ?? "";
    for (const detail of piece.reasoning_details ?? []) this.#addDetail(detail);
    for (const part of thinkingPartsOf(piece.content)) {
      this.#thinking = joinThinking(this.#thinking ?? {}, part);
    }
  }

  /** For people to read; empty if the server reports nothing. */
  get text(): string {
    const text = this.#reasoning || this.#reasoningContent ||
      thinkingTextOf(this.#thinking ?? {});
    return text ||
      this.#details.map(({ text, summary }) => textOf(text) || textOf(summary)).join("");
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
    const position = this.#details.findIndex(({ index, type }) =>
      index !== undefined && index === piece.index && type === piece.type
    );
    const begun = this.#details[position];
    if (begun === undefined) this.#details.push(piece);
    else this.#details[position] = joined(begun, piece);
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
      return [key, isStreamed ? textOf(begun[key]) + textOf(value) : value];
    })),
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
