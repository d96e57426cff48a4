import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";
import { z } from "../../vendor/zod.js";
import { AnswerBuilder } from "./answer_builder.ts";
import type { AnswerDeltas } from "./answer_deltas.ts";
import { createCutError } from "./model_error.ts";
import type { ModelEndpoint, ModelResponse, ModelUsage } from "./model_port.ts";
import { toResponsesData } from "./openai_responses_input.ts";

const responseSchema = z.object({
  status: z.string().nullish(),
  error: jsonObject.nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  output: z.array(jsonObject).nullish(),
  usage: z.object({
    input_tokens: z.number().nullish(),
    input_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
    output_tokens: z.number().nullish(),
  }).nullish(),
});

const eventSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("response.output_text.delta"),
    output_index: z.number(),
    delta: z.string(),
  }),
  z.object({
    type: z.literal("response.refusal.delta"),
    output_index: z.number(),
    delta: z.string(),
  }),
  z.object({
    type: z.literal("response.function_call_arguments.delta"),
    output_index: z.number(),
    delta: z.string(),
  }),
  z.object({
    type: z.literal("response.output_item.added"),
    output_index: z.number(),
    item: jsonObject,
  }),
  z.object({
    type: z.literal("response.output_item.done"),
    output_index: z.number(),
    item: jsonObject,
  }),
  z.object({ type: z.literal("response.completed"), response: responseSchema }),
  z.object({ type: z.literal("response.incomplete"), response: responseSchema }),
  z.object({ type: z.literal("response.failed"), response: responseSchema }),
]);

/** Other kinds carry nothing this product needs, and the API may add kinds at any time. */
const EVENTS_WE_READ: readonly unknown[] = eventSchema.options.map(({ shape }) => shape.type.value);

const messageSchema = z.object({
  type: z.literal("message"),
  content: z.array(z.object({ text: z.string().nullish(), refusal: z.string().nullish() })),
});
const callSchema = z.object({
  type: z.literal("function_call"),
  call_id: z.string().nullish(),
  name: z.string().nullish(),
  arguments: z.string().nullish(),
});
const reasoningSchema = z.object({
  type: z.literal("reasoning"),
  summary: z.array(z.object({ text: z.string() })).nullish(),
  content: z.array(z.object({ text: z.string().nullish() })).nullish(),
});

type Usage = z.infer<typeof responseSchema>["usage"];

/** Reads a whole response, or a stream's events, into an answer. */
export class ResponsesAnswerReader {
  readonly #endpoint: ModelEndpoint;
  readonly #answer: AnswerBuilder;
  readonly #items = new Map<number, JsonObject>();
  /** Items whose text or arguments have streamed in: the whole item repeats them. */
  readonly #streamed = new Set<number>();
  #usage: Usage;
  #stopped: ModelResponse["finish_reason"] | undefined;
  #isRefused = false;

  constructor(endpoint: ModelEndpoint, deltas: AnswerDeltas) {
    this.#endpoint = endpoint;
    this.#answer = new AnswerBuilder(endpoint, deltas);
  }

  readResponse(raw: unknown): void {
    this.#end(responseSchema.parse(raw));
  }

  readEvent(raw: unknown): void {
    if (typeof raw !== "object" || raw === null || !("type" in raw)) return;
    if (raw.type === "error") throw { error: raw };
    if (!EVENTS_WE_READ.includes(raw.type)) return;
    const event = eventSchema.parse(raw);
    switch (event.type) {
      case "response.refusal.delta":
        this.#isRefused = true;
        this.#streamed.add(event.output_index);
        return this.#answer.addText(event.delta);
      case "response.output_text.delta":
        this.#streamed.add(event.output_index);
        return this.#answer.addText(event.delta);
      case "response.output_item.added":
        return this.#begin(event.output_index, event.item);
      case "response.function_call_arguments.delta":
        this.#streamed.add(event.output_index);
        return this.#answer.addCall(event.output_index, { argumentsText: event.delta });
      case "response.output_item.done":
        return this.#add(event.output_index, event.item);
      default:
        return this.#end(event.response);
    }
  }

  /** @throws SwarmError MODEL_UNAVAILABLE if the answer is cut off. */
  finish(): ModelResponse {
    if (this.#stopped === undefined) throw createCutError(this.#endpoint);
    const items = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    const stopped = this.#isRefused ? "refused" : this.#stopped;
    return this.#answer.finish(stopped, toUsage(this.#usage), toResponsesData(items));
  }

  /** A call's name comes before its arguments, which stream in. */
  #begin(index: number, item: JsonObject): void {
    const call = callSchema.safeParse(item);
    if (!call.success) return;
    this.#answer.addCall(index, { call_id: call.data.call_id, name: call.data.name });
  }

  #end({ status, error, incomplete_details: cut, output, usage }: z.infer<typeof responseSchema>) {
    if (error) throw { error };
    for (const [index, item] of (output ?? []).entries()) this.#add(index, item);
    this.#usage = usage;
    if (status !== "incomplete") this.#stopped = "stop";
    else this.#stopped = cut?.reason === "content_filter" ? "refused" : "length";
  }

  #add(index: number, item: JsonObject): void {
    if (this.#items.has(index)) return;
    this.#items.set(index, item);
    this.#readMessage(index, item);
    this.#readCall(index, item);
    this.#readReasoning(item);
    this.#readOwnTool(item);
  }

  #readMessage(index: number, item: JsonObject): void {
    const message = messageSchema.safeParse(item);
    if (!message.success) return;
    this.#isRefused ||= message.data.content.some(({ refusal }) => Boolean(refusal));
    if (this.#streamed.has(index)) return;
    for (const { text, refusal } of message.data.content) {
      this.#answer.addText(text ?? refusal ?? "");
    }
  }

  #readCall(index: number, item: JsonObject): void {
    const call = callSchema.safeParse(item);
    if (!call.success) return;
    const { call_id, name, arguments: given } = call.data;
    const argumentsText = this.#streamed.has(index) ? "" : given;
    this.#answer.addCall(index, { call_id, name, argumentsText });
  }

  #readReasoning(item: JsonObject): void {
    const reasoning = reasoningSchema.safeParse(item);
    if (!reasoning.success) return;
    const { summary, content } = reasoning.data;
    const parts = summary?.length ? summary : content ?? [];
    this.#answer.addReasoning(parts.map(({ text }) => text ?? "").join("\n\n"));
  }

  #readOwnTool(item: JsonObject): void {
    if (item.type === "web_search_call") {
      const input = item.action ?? null;
      this.#answer.addProviderCall({ name: "web_search", input, output: item.status ?? null });
    }
    if (item.type === "code_interpreter_call") {
      const input: JsonValue = { code: item.code ?? null };
      this.#answer.addProviderCall({ name: "code_execution", input, output: item.outputs ?? null });
    }
  }
}

function toUsage(usage: Usage): ModelUsage {
  return {
    input_tokens: usage?.input_tokens ?? 0,
    cached_input_tokens: usage?.input_tokens_details?.cached_tokens ?? 0,
    output_tokens: usage?.output_tokens ?? 0,
  };
}
