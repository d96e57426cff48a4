import type { JsonObject, JsonValue } from "../json.ts";
import { jsonObject } from "../json_schema.ts";
import { z } from "../vendor/zod.js";

/**
 * The reasoning fields of a chat completion message. The standard format has none; compatible
 * servers use one of these.
 */
export interface ReasoningPiece {
  readonly reasoning?: string | null | undefined;
  readonly reasoning_content?: string | null | undefined;
  readonly reasoning_details?: readonly JsonObject[] | null | undefined;
}

const providerDataSchema = z.object({
  api: z.literal("openai"),
  reasoning: z.string().exactOptional(),
  reasoning_content: z.string().exactOptional(),
  reasoning_details: z.array(jsonObject).exactOptional(),
});

/** Members of a detail that stream in chunks. */
const STREAMED_MEMBERS = ["text", "summary", "data", "signature"];

/** The reasoning of one answer, assembled from its chunks. */
export class OpenAiReasoning {
  readonly #details: JsonObject[] = [];
  #reasoning = "";
  #content = "";

  add({ reasoning, reasoning_content: content, reasoning_details: details }: ReasoningPiece): void {
    this.#reasoning += reasoning ?? "";
    this.#content += content ?? "";
    for (const detail of details ?? []) this.#addDetail(detail);
  }

  /** For people to read; empty if the server reports nothing. */
  get text(): string {
    if (this.#reasoning !== "" || this.#content !== "") return this.#reasoning || this.#content;
    return this.#details.map(({ text, summary }) => textOf(text) || textOf(summary)).join("");
  }

  /**
   * What the server requires in the next request: the form with signatures, if there are several.
   */
  toProviderData(): JsonValue | undefined {
    if (this.#details.length > 0) return { api: "openai", reasoning_details: this.#details };
    if (this.#content !== "") return { api: "openai", reasoning_content: this.#content };
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

/** The members of an earlier answer that are sent back to the server it came from. */
export function keptReasoning(providerData: JsonValue | undefined): JsonObject {
  const kept = providerDataSchema.safeParse(providerData);
  if (!kept.success) return {};
  const { api: _, ...members } = kept.data;
  return members;
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
