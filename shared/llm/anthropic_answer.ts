import { z } from "../vendor/zod.js";
import { AnswerBuilder } from "./answer_builder.ts";
import type { AnswerDeltas } from "./answer_deltas.ts";
import { type AnswerBlock, toProviderData } from "./anthropic_messages.ts";
import { createCutError } from "./model_error.ts";
import type { ModelEndpoint, ModelResponse, ModelUsage } from "./model_port.ts";

const usageSchema = z.object({
  input_tokens: z.number().nullish(),
  cache_creation_input_tokens: z.number().nullish(),
  cache_read_input_tokens: z.number().nullish(),
  output_tokens: z.number().nullish(),
});

const knownBlockSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("tool_use"), id: z.string(), name: z.string(), input: z.unknown() }),
  z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().catch("") }),
  z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
]);

/** Blocks of kinds that we never ask for count as empty text. */
const otherBlockSchema = z.object({ type: z.string() })
  .refine(({ type }) => !["text", "tool_use", "thinking", "redacted_thinking"].includes(type))
  .transform(() => ({ type: "text" as const, text: "" }));

const blockSchema = z.union([knownBlockSchema, otherBlockSchema]);

const messageSchema = z.object({
  content: z.array(blockSchema),
  stop_reason: z.string(),
  usage: usageSchema,
});

const deltaSchema = z.object({
  text: z.string().optional(),
  partial_json: z.string().optional(),
  thinking: z.string().optional(),
  signature: z.string().optional(),
});

const eventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message_start"), message: z.object({ usage: usageSchema }) }),
  z.object({
    type: z.literal("content_block_start"),
    index: z.number(),
    content_block: blockSchema,
  }),
  z.object({ type: z.literal("content_block_delta"), index: z.number(), delta: deltaSchema }),
  z.object({
    type: z.literal("message_delta"),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: usageSchema.nullish(),
  }),
]);

/** The others carry nothing we need, and the API may add kinds at any time. */
const EVENTS_WE_READ: readonly unknown[] = [
  "message_start",
  "content_block_start",
  "content_block_delta",
  "message_delta",
];

type Block = z.infer<typeof blockSchema>;
type Delta = z.infer<typeof deltaSchema>;
type StreamEvent = z.infer<typeof eventSchema>;
type Usage = z.infer<typeof usageSchema>;

/** Reads a whole message, or a stream's events, into an answer. */
export class AnthropicAnswerReader {
  readonly #endpoint: ModelEndpoint;
  readonly #answer: AnswerBuilder;
  readonly #blocks = new Map<number, Block>();
  #usage: Usage = {};
  #stopReason: string | undefined;

  constructor(endpoint: ModelEndpoint, deltas: AnswerDeltas) {
    this.#endpoint = endpoint;
    this.#answer = new AnswerBuilder(endpoint, deltas);
  }

  readMessage(raw: unknown): void {
    const message = messageSchema.parse(raw);
    for (const [index, block] of message.content.entries()) this.#start(index, block);
    this.#usage = message.usage;
    this.#stopReason = message.stop_reason;
  }

  readEvent(raw: unknown): void {
    if (!EVENTS_WE_READ.includes(typeOf(raw))) return;
    const event = eventSchema.parse(raw);
    this.#usage = mergeUsage(this.#usage, event);
    if (event.type === "content_block_start") this.#start(event.index, event.content_block);
    if (event.type === "content_block_delta") this.#extend(event.index, event.delta);
    if (event.type === "message_delta") {
      this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
    }
  }

  /** @throws SwarmError MODEL_UNAVAILABLE when the answer has no end. */
  finish(): ModelResponse {
    if (this.#stopReason === undefined) throw createCutError(this.#endpoint);
    return this.#answer.finish(
      toFinishReason(this.#stopReason),
      toUsage(this.#usage),
      toProviderData(this.#answerBlocks()),
    );
  }

  #start(index: number, block: Block): void {
    this.#blocks.set(index, block);
    if (block.type === "text") this.#answer.addText(block.text);
    if (block.type !== "tool_use") return;
    // A streamed call starts with an empty object and then sends its arguments as text.
    const input = JSON.stringify(block.input ?? {});
    this.#answer.addCall(index, {
      call_id: block.id,
      name: block.name,
      argumentsText: input === "{}" ? "" : input,
    });
  }

  #extend(index: number, delta: Delta): void {
    const block = this.#blocks.get(index);
    if (block?.type === "text") {
      block.text += delta.text ?? "";
      this.#answer.addText(delta.text ?? "");
    }
    if (block?.type === "tool_use") {
      this.#answer.addCall(index, { argumentsText: delta.partial_json });
    }
    if (block?.type === "thinking") {
      block.thinking += delta.thinking ?? "";
      block.signature += delta.signature ?? "";
    }
  }

  #answerBlocks(): AnswerBlock[] {
    const calls = new Map(this.#answer.toolCalls().map((call) => [call.call_id, call]));
    return [...this.#blocks.values()]
      .filter((block) => block.type !== "text" || block.text !== "")
      .map((block) =>
        block.type === "tool_use"
          ? { ...block, input: calls.get(block.id)?.arguments ?? {} }
          : { ...block }
      );
  }
}

function typeOf(raw: unknown): unknown {
  return typeof raw === "object" && raw !== null && "type" in raw ? raw.type : undefined;
}

function mergeUsage(usage: Usage, event: StreamEvent): Usage {
  if (event.type === "message_start") return event.message.usage;
  if (event.type !== "message_delta") return usage;
  const counted = Object.entries(event.usage ?? {}).filter(([, tokens]) => tokens !== null);
  return { ...usage, ...Object.fromEntries(counted) };
}

function toFinishReason(reason: string): ModelResponse["finish_reason"] {
  if (reason === "refusal") return "refused";
  return reason === "max_tokens" || reason === "model_context_window_exceeded" ? "length" : "stop";
}

/** The API counts what it read from and wrote to its cache apart from the rest of the input. */
function toUsage(usage: Usage): ModelUsage {
  const cachedInputTokens = usage.cache_read_input_tokens ?? 0;
  const written = usage.cache_creation_input_tokens ?? 0;
  return {
    input_tokens: (usage.input_tokens ?? 0) + cachedInputTokens + written,
    cached_input_tokens: cachedInputTokens,
    output_tokens: usage.output_tokens ?? 0,
  };
}
