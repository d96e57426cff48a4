import { jsonObject } from "../../platform/values/json_schema.ts";
import { z } from "../../vendor/zod.js";
import { AnswerBuilder } from "./answer_builder.ts";
import type { AnswerDeltas } from "./answer_deltas.ts";
import { createCutError, throwReported } from "./model_error.ts";
import type { ModelEndpoint, ModelResponse, ModelUsage } from "./model_port.ts";
import { answerTextOf, openAiContent } from "./openai_content.ts";
import { OpenAiReasoning } from "./openai_reasoning.ts";

const toolCallSchema = z.object({
  index: z.number().int().optional(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }),
});

const messageSchema = z.object({
  content: openAiContent,
  refusal: z.string().nullish(),
  tool_calls: z.array(toolCallSchema).nullish(),
  reasoning: z.string().nullish().catch(null),
  reasoning_content: z.string().nullish().catch(null),
  reasoning_details: z.array(jsonObject).nullish().catch(null),
});

const usageSchema = z.object({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
});

const completionSchema = z.object({
  choices: z.array(z.object({ message: messageSchema, finish_reason: z.string().nullish() })).min(
    1,
  ),
  usage: usageSchema.nullish(),
});

const chunkSchema = z.object({
  choices: z.array(z.object({
    delta: messageSchema.nullish(),
    finish_reason: z.string().nullish(),
  })),
  usage: usageSchema.nullish(),
});

type Message = z.infer<typeof messageSchema>;
type ToolCallDelta = z.infer<typeof toolCallSchema>;
/** The call that a chunk belongs to, from the chunk and its position in the message. */
type NumberOfCall = (call: ToolCallDelta, position: number) => number;
type Usage = z.infer<typeof usageSchema> | null | undefined;

/** Reads a whole completion, or a stream's chunks, into an answer. */
export class OpenAiAnswerReader {
  readonly #endpoint: ModelEndpoint;
  readonly #answer: AnswerBuilder;
  readonly #numberOf = createCallNumbering();
  readonly #reasoning = new OpenAiReasoning();
  #usage: Usage;
  #finishReason: string | null | undefined;
  #isRefused = false;

  constructor(endpoint: ModelEndpoint, deltas: AnswerDeltas) {
    this.#endpoint = endpoint;
    this.#answer = new AnswerBuilder(endpoint, deltas);
  }

  readCompletion(raw: unknown): void {
    throwReported(raw);
    const { choices: [choice], usage } = completionSchema.parse(raw);
    this.#readMessage(choice?.message, (_, position) => position);
    this.#usage = usage;
    // Some compatible servers omit it or send an empty one; a whole answer is complete anyway.
    this.#finishReason = choice?.finish_reason || "stop";
  }

  readChunk(raw: unknown): void {
    const { choices: [choice], usage } = chunkSchema.parse(raw);
    this.#readMessage(choice?.delta, this.#numberOf);
    this.#usage = usage ?? this.#usage;
    this.#finishReason = choice?.finish_reason || this.#finishReason;
    // The last chunk has the usage and no choice: the answer is complete, also without a reason.
    if (usage && choice === undefined) this.#finishReason ||= "stop";
  }

  /** @throws SwarmError MODEL_UNAVAILABLE if the answer is cut off. */
  finish(): ModelResponse {
    if (!this.#finishReason) throw createCutError(this.#endpoint);
    const stopped = toFinishReason(this.#finishReason, this.#isRefused);
    this.#answer.addReasoning(this.#reasoning.text);
    return this.#answer.finish(stopped, toUsage(this.#usage), this.#reasoning.toResponsesData());
  }

  #readMessage(message: Message | null | undefined, numberOf: NumberOfCall): void {
    this.#isRefused ||= Boolean(message?.refusal);
    if (message) this.#reasoning.add(message);
    this.#answer.addText(answerTextOf(message?.content) || message?.refusal || "");
    for (const [position, call] of (message?.tool_calls ?? []).entries()) {
      this.#answer.addCall(numberOf(call, position), {
        call_id: call.id,
        name: call.function.name,
        argumentsText: call.function.arguments,
      });
    }
  }
}

/**
 * Numbers the calls of a stream. Chunks of one call share an index, but some compatible servers
 * send whole calls without an index or all with 0: then a new id means a new call.
 */
function createCallNumbering(): NumberOfCall {
  const numbers = new Map<number, { number: number; id: string | null | undefined }>();
  let last = -1;
  return ({ index = 0, id }) => {
    const open = numbers.get(index);
    if (open !== undefined && (!id || id === open.id)) return open.number;
    numbers.set(index, { number: ++last, id });
    return last;
  };
}

function toFinishReason(reason: string, isRefused: boolean): ModelResponse["finish_reason"] {
  if (isRefused || reason === "content_filter") return "refused";
  return reason === "length" ? "length" : "stop";
}

function toUsage(usage: Usage): ModelUsage {
  return {
    input_tokens: usage?.prompt_tokens ?? 0,
    cached_input_tokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    output_tokens: usage?.completion_tokens ?? 0,
  };
}
