import { definedOnly } from "../../platform/values/defined_only.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { RESULT_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../platform/json/parse_json.ts";
import { jsonObject, jsonValue } from "../../platform/values/json_schema.ts";
import { z } from "../../vendor/zod.js";
import { AnswerBuilder } from "./answer_builder.ts";
import type { AnswerDeltas } from "./answer_deltas.ts";
import { type AnswerBlock, toAnthropicData, toWireBlock } from "./anthropic_messages.ts";
import { createCutError, throwReported } from "./model_error.ts";
import type { ModelEndpoint, ModelResponse, ModelUsage, ProviderToolCall } from "./model_port.ts";

/** The container in which the provider runs programs; a continued turn reuses it. */
const containerSchema = z.object({ id: z.string() }).nullish();

const usageSchema = z.object({
  input_tokens: z.number().nullish(),
  cache_creation_input_tokens: z.number().nullish(),
  cache_read_input_tokens: z.number().nullish(),
  output_tokens: z.number().nullish(),
  server_tool_use: z.object({ web_search_requests: z.number().nullish() }).nullish(),
});

const knownBlockSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("text"),
    text: z.string(),
    citations: z.array(jsonValue).nullish().transform((citations) => citations ?? []),
  }),
  z.object({ type: z.literal("tool_use"), id: z.string(), name: z.string(), input: z.unknown() }),
  z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().catch("") }),
  z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
]);

const KNOWN_BLOCKS = ["text", "tool_use", "thinking", "redacted_thinking"];

/** Inputs and results of the provider's own tools are sent back unchanged. */
const providerBlockSchema = jsonObject
  .refine(({ type }) => typeof type === "string" && !KNOWN_BLOCKS.includes(type))
  .transform((block) => ({ type: "provider" as const, block, inputText: "" }));

const blockSchema = z.union([knownBlockSchema, providerBlockSchema]);

const messageSchema = z.object({
  content: z.array(blockSchema),
  stop_reason: z.string(),
  usage: usageSchema,
  container: containerSchema,
});

const deltaSchema = z.object({
  text: z.string().optional(),
  partial_json: z.string().optional(),
  thinking: z.string().optional(),
  signature: z.string().optional(),
  citation: jsonValue.optional(),
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
    delta: z.object({ stop_reason: z.string().nullish(), container: containerSchema }),
    usage: usageSchema.nullish(),
  }),
]);

/** Other kinds carry nothing this product needs, and the API may add kinds at any time. */
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

/**
 * Reads a whole message, or a stream's events, into an answer. If the provider pauses a turn while
 * its own tools run, several messages are read in sequence.
 */
export class AnthropicAnswerReader {
  readonly #endpoint: ModelEndpoint;
  readonly #answer: AnswerBuilder;
  readonly #blocks = new Map<number, Block>();
  /** Index of the first block of the current message. */
  #firstBlock = 0;
  #usage: Usage = {};
  #earlierUsage: ModelUsage | null = null;
  #stopReason: string | undefined;
  #containerId: string | undefined;

  constructor(endpoint: ModelEndpoint, deltas: AnswerDeltas) {
    this.#endpoint = endpoint;
    this.#answer = new AnswerBuilder(endpoint, deltas);
  }

  readMessage(raw: unknown): void {
    throwReported(raw);
    const message = messageSchema.parse(raw);
    for (const [index, block] of message.content.entries()) this.#start(index, block);
    this.#usage = message.usage;
    this.#stop(message.stop_reason, message.container);
  }

  readEvent(raw: unknown): void {
    if (!EVENTS_WE_READ.includes(typeOf(raw))) return;
    const event = eventSchema.parse(raw);
    this.#usage = mergeUsage(this.#usage, event);
    if (event.type === "content_block_start") this.#start(event.index, event.content_block);
    if (event.type === "content_block_delta") this.#extend(event.index, event.delta);
    if (event.type === "message_delta") this.#stop(event.delta.stop_reason, event.delta.container);
  }

  /**
   * The state that continues a paused turn in the next request; null if the turn has ended.
   */
  resumption(): { readonly content: readonly JsonObject[]; readonly container?: string } | null {
    if (this.#stopReason !== "pause_turn") return null;
    this.#earlierUsage = this.#totalUsage();
    this.#usage = {};
    this.#stopReason = undefined;
    this.#firstBlock = this.#blocks.size;
    const content = this.#answerBlocks().map(toWireBlock);
    return { content, ...definedOnly({ container: this.#containerId }) };
  }

  /** @throws SwarmError MODEL_UNAVAILABLE if the answer is cut off. */
  finish(): ModelResponse {
    if (this.#stopReason === undefined) throw createCutError(this.#endpoint);
    const blocks = this.#answerBlocks();
    for (const use of providerUses(blocks)) this.#answer.addProviderCall(use);
    return this.#answer.finish(
      toFinishReason(this.#stopReason),
      this.#totalUsage(),
      toAnthropicData(blocks),
    );
  }

  #stop(reason: string | null | undefined, container: z.infer<typeof containerSchema>): void {
    this.#stopReason = reason ?? this.#stopReason;
    this.#containerId = container?.id ?? this.#containerId;
  }

  #start(index: number, block: Block): void {
    const number = this.#firstBlock + index;
    this.#blocks.set(number, block);
    if (block.type === "text") this.#answer.addText(block.text);
    if (block.type === "thinking") this.#answer.addReasoning(block.thinking);
    if (block.type !== "tool_use") return;
    // A streamed call starts with an empty object and then sends its arguments as text.
    const input = JSON.stringify(block.input ?? {});
    this.#answer.addCall(number, {
      call_id: block.id,
      name: block.name,
      argumentsText: input === "{}" ? "" : input,
    });
  }

  #extend(index: number, delta: Delta): void {
    const number = this.#firstBlock + index;
    const block = this.#blocks.get(number);
    switch (block?.type) {
      case "text":
        block.text += delta.text ?? "";
        this.#answer.addText(delta.text ?? "");
        if (delta.citation !== undefined) block.citations.push(delta.citation);
        return;
      case "tool_use":
        return this.#answer.addCall(number, { argumentsText: delta.partial_json });
      case "thinking":
        block.thinking += delta.thinking ?? "";
        block.signature += delta.signature ?? "";
        return this.#answer.addReasoning(delta.thinking ?? "");
      case "provider":
        block.inputText += delta.partial_json ?? "";
        return;
    }
  }

  #totalUsage(): ModelUsage {
    const usage = toUsage(this.#usage);
    return this.#earlierUsage === null ? usage : addUsage(this.#earlierUsage, usage);
  }

  #answerBlocks(): AnswerBlock[] {
    const calls = new Map(this.#answer.toolCalls().map((call) => [call.call_id, call]));
    return [...this.#blocks.values()]
      .filter((block) => block.type !== "text" || block.text !== "")
      .map((block): AnswerBlock => {
        switch (block.type) {
          case "tool_use":
            return { ...block, input: calls.get(block.id)?.arguments ?? {} };
          case "text": {
            const { citations, ...text } = block;
            return citations.length === 0 ? text : { ...text, citations };
          }
          case "provider":
            return { type: "provider", block: withInput(block) };
          default:
            return { ...block };
        }
      });
  }
}

/** A streamed tool-use block has its input as text. */
function withInput(
  { block, inputText }: { readonly block: JsonObject; readonly inputText: string },
): JsonObject {
  const input = parseJsonOrUndefined(inputText, RESULT_LIMITS);
  return isJsonObject(input) ? { ...block, input } : block;
}

/** The calls of the provider's own tools, each with its result. */
function providerUses(blocks: readonly AnswerBlock[]): ProviderToolCall[] {
  const own = blocks.flatMap((block) => block.type === "provider" ? [block.block] : []);
  return own.flatMap((use): ProviderToolCall[] => {
    const name = use.type === "server_tool_use" ? providerToolOf(use.name) : null;
    if (name === null) return [];
    const result = own.find((block) => block.tool_use_id === use.id);
    return [{ name, input: use.input ?? null, output: result?.content ?? null }];
  });
}

function providerToolOf(name: JsonValue | undefined): ProviderToolCall["name"] | null {
  if (name === "web_search") return "web_search";
  // The API uses separate tools to run commands and to edit files.
  return typeof name === "string" && name.endsWith("code_execution") ? "code_execution" : null;
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

/** The API counts cache reads and writes separately from the rest of the input. */
function toUsage(usage: Usage): ModelUsage {
  const cachedInputTokens = usage.cache_read_input_tokens ?? 0;
  const written = usage.cache_creation_input_tokens ?? 0;
  return {
    input_tokens: (usage.input_tokens ?? 0) + cachedInputTokens + written,
    cached_input_tokens: cachedInputTokens,
    ...(written === 0 ? {} : { cache_write_input_tokens: written }),
    output_tokens: usage.output_tokens ?? 0,
    ...definedOnly({
      web_search_calls: usage.server_tool_use?.web_search_requests || undefined,
    }),
  };
}

/** The combined usage of the requests for one answer. */
function addUsage(first: ModelUsage, second: ModelUsage): ModelUsage {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]) as Set<keyof ModelUsage>;
  const sums = [...names].map((name) => [name, (first[name] ?? 0) + (second[name] ?? 0)] as const);
  return { ...first, ...second, ...Object.fromEntries(sums) };
}
