import type { JsonValue } from "../../platform/values/json.ts";
import { jsonValue } from "../../platform/values/json_schema.ts";
import { z } from "../../vendor/zod.js";
import { AnswerBuilder } from "./answer_builder.ts";
import type { AnswerDeltas } from "./answer_deltas.ts";
import { type AnswerPart, partSchema, toGoogleData } from "./google_contents.ts";
import { createCutError, createModelError } from "./model_error.ts";
import type { ModelEndpoint, ModelResponse, ModelUsage } from "./model_port.ts";

const responseSchema = z.object({
  candidates: z.array(z.object({
    content: z.object({ parts: z.array(partSchema).nullish() }).nullish(),
    finishReason: z.string().nullish(),
    groundingMetadata: z.object({
      webSearchQueries: z.array(z.string()).nullish(),
      groundingChunks: z.array(z.object({ web: jsonValue.optional() })).nullish(),
    }).nullish(),
  })).nullish(),
  promptFeedback: z.object({
    blockReason: z.string().nullish(),
    blockReasonMessage: z.string().nullish(),
  }).nullish(),
  usageMetadata: z.object({
    promptTokenCount: z.number().nullish(),
    toolUsePromptTokenCount: z.number().nullish(),
    cachedContentTokenCount: z.number().nullish(),
    candidatesTokenCount: z.number().nullish(),
    thoughtsTokenCount: z.number().nullish(),
  }).nullish(),
});

type Usage = z.infer<typeof responseSchema>["usageMetadata"];

/** The model's own failures; a retry can help. */
const INVALID_REASONS = [
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MALFORMED_RESPONSE",
];

const REFUSAL_REASONS = [
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
];

/** Reads one whole response or the chunks of a stream, which have the same shape. */
export class GoogleAnswerReader {
  readonly #endpoint: ModelEndpoint;
  readonly #answer: AnswerBuilder;
  readonly #parts: AnswerPart[] = [];
  readonly #searches = new Set<string>();
  #pages: JsonValue[] = [];
  #callCount = 0;
  #usage: Usage;
  #finishReason: string | undefined;

  constructor(endpoint: ModelEndpoint, deltas: AnswerDeltas) {
    this.#endpoint = endpoint;
    this.#answer = new AnswerBuilder(endpoint, deltas);
  }

  read(raw: unknown): void {
    const { candidates, promptFeedback, usageMetadata } = responseSchema.parse(raw);
    const candidate = candidates?.[0];
    this.#usage = usageMetadata ?? this.#usage;
    for (const part of candidate?.content?.parts ?? []) this.#readPart(part);
    this.#finishReason = candidate?.finishReason ?? this.#finishReason;
    const { webSearchQueries, groundingChunks } = candidate?.groundingMetadata ?? {};
    webSearchQueries?.forEach((query) => this.#searches.add(query));
    this.#pages = groundingChunks?.flatMap(({ web }) => web ?? []) ?? this.#pages;
    if (promptFeedback?.blockReason) {
      this.#answer.addText(promptFeedback.blockReasonMessage ?? "");
      this.#finishReason = "SAFETY";
    }
  }

  finish(): ModelResponse {
    const reason = this.#finishReason;
    if (reason === undefined) throw createCutError(this.#endpoint);
    if (INVALID_REASONS.includes(reason)) {
      throw createModelError(this.#endpoint, {
        code: "MODEL_OUTPUT_INVALID",
        message: `the model stopped with ${reason}`,
      });
    }
    this.#addProviderCalls();
    return this.#answer.finish(
      toFinishReason(reason),
      toUsage(this.#usage),
      toGoogleData(this.#parts),
    );
  }

  /** The API does not report which search found which page. */
  #addProviderCalls(): void {
    for (const [index, query] of [...this.#searches].entries()) {
      const output = index === 0 ? this.#pages : null;
      this.#answer.addProviderCall({ name: "web_search", input: { query }, output });
    }
    const results = this.#parts.flatMap(({ codeExecutionResult: result }) =>
      result === undefined ? [] : [result]
    );
    const programs = this.#parts.flatMap(({ executableCode: program }) =>
      program === undefined ? [] : [program]
    );
    for (const [index, { code = "" }] of programs.entries()) {
      const output = results[index]?.output ?? null;
      this.#answer.addProviderCall({ name: "code_execution", input: { code }, output });
    }
  }

  #readPart(part: AnswerPart): void {
    const { text, thought, functionCall } = part;
    if (text !== undefined && !thought) this.#answer.addText(text);
    if (text !== undefined && thought) this.#answer.addReasoning(text);
    if (functionCall !== undefined) {
      this.#answer.addCall(this.#callCount++, {
        call_id: functionCall.id,
        name: functionCall.name,
        argumentsText: JSON.stringify(functionCall.args ?? {}),
      });
    }
    // Streamed text arrives in many parts; parts without signatures are merged.
    const last = this.#parts.at(-1);
    const isMore = isPlainText(part) && last !== undefined && isPlainText(last) &&
      thought === last.thought;
    if (isMore) last.text = `${last.text}${text}`;
    else this.#parts.push({ ...part });
  }
}

function isPlainText(part: AnswerPart): boolean {
  return part.text !== undefined &&
    Object.keys(part).every((key) => key === "text" || key === "thought");
}

function toFinishReason(reason: string): ModelResponse["finish_reason"] {
  if (REFUSAL_REASONS.includes(reason)) return "refused";
  return reason === "MAX_TOKENS" ? "length" : "stop";
}

function toUsage(usage: Usage): ModelUsage {
  return {
    input_tokens: (usage?.promptTokenCount ?? 0) + (usage?.toolUsePromptTokenCount ?? 0),
    cached_input_tokens: usage?.cachedContentTokenCount ?? 0,
    output_tokens: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
  };
}
