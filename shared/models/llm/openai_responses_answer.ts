import { ARGUMENTS_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../platform/json/parse_json.ts";
import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../platform/values/json.ts";
import { AnswerBuilder } from "./answer_builder.ts";
import type { AnswerDeltas } from "./answer_deltas.ts";
import { argumentsTextIn, countIn, isFilled, listIn, textIn } from "./answer_fields.ts";
import { endingOf } from "./finish_reasons.ts";
import type { ModelEndpoint, ModelResponse, ModelToolCall, ModelUsage } from "./model_port.ts";
import { toResponsesData } from "./openai_responses_input.ts";
import type { AnswerReader } from "./read_answer.ts";

/** Reads a whole response, or a stream's events, into an answer. */
export class ResponsesAnswerReader implements AnswerReader {
  readonly answer: AnswerBuilder;
  readonly #items = new Map<number, JsonObject>();
  /** Items whose text or arguments have streamed in: the whole item repeats them. */
  readonly #streamed = new Set<number>();
  /** The places of items by their ids, for events that do not say the place. */
  readonly #places = new Map<string, number>();
  #lastPlace = -1;
  #usage: JsonObject = {};

  constructor(endpoint: ModelEndpoint, deltas: AnswerDeltas) {
    this.answer = new AnswerBuilder(endpoint, deltas);
  }

  read(event: JsonObject): void {
    switch (event.type) {
      case "response.refusal.delta":
      case "response.output_text.delta":
        if (event.type === "response.refusal.delta") this.answer.refuse();
        this.#streamed.add(this.#placeOf(event));
        return this.answer.addText(event.delta);
      case "response.function_call_arguments.delta": {
        const place = this.#placeOf(event);
        this.#streamed.add(place);
        return this.answer.addCall(place, { argumentsText: argumentsTextIn(event.delta) });
      }
      case "response.output_item.added":
        return this.#begin(this.#placeOf(event), asJsonObject(event.item));
      case "response.output_item.done":
        return this.#add(this.#placeOf(event), event.item ?? null);
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#end(asJsonObject(event.response));
      default:
        // Other events carry nothing this product needs, and the API may add some at any time.
        if (event.type === undefined && event.output !== undefined) this.#end(event);
    }
  }

  /** @throws SwarmError MODEL_UNAVAILABLE if the answer is cut off. */
  finish(): ModelResponse {
    const isCut = this.answer.ending() === "length";
    const calls = this.answer.calls();
    const items = [...this.#items].sort(([a], [b]) => a - b)
      .flatMap(([place, item]) => withCall(item, calls.get(place)));
    const kept = isCut ? repeatable(items) : items;
    return this.answer.finish(toUsage(this.#usage), toResponsesData(kept));
  }

  /** Where the item of an event is in the answer. */
  #placeOf({ type, output_index: index, item_id: itemId, item }: JsonObject): number {
    const id = textIn(itemId) || textIn(asJsonObject(item).id);
    const next = type === "response.output_item.added" ? this.#lastPlace + 1 : this.#lastPlace;
    this.#lastPlace = countIn(index) ?? this.#places.get(id) ?? Math.max(next, 0);
    if (id !== "") this.#places.set(id, this.#lastPlace);
    return this.#lastPlace;
  }

  /** A call's name comes before its arguments, which stream in. */
  #begin(place: number, { type, call_id: id, name }: JsonObject): void {
    if (type !== "function_call") return;
    this.answer.addCall(place, { call_id: textIn(id), name: textIn(name) });
  }

  #end({ status, error, incomplete_details: cut, output, usage }: JsonObject): void {
    if (isFilled(error)) throw { error };
    const items = listIn(output);
    this.answer.count(items.length);
    for (const [index, item] of items.entries()) {
      this.#add(this.#places.get(textIn(asJsonObject(item).id)) ?? index, item);
    }
    this.#usage = asJsonObject(usage);
    const reason = textIn(asJsonObject(cut).reason);
    const isCut = status === "incomplete" && endingOf(reason) === undefined;
    this.answer.stop(isCut ? "length" : reason || (status === "failed" ? "error" : "stop"));
    this.answer.end();
  }

  #add(place: number, item: JsonValue): void {
    if (this.#items.has(place) || item === null) return;
    if (!isJsonObject(item)) return this.answer.leaveOut(`an item that is ${JSON.stringify(item)}`);
    this.#items.set(place, item);
    const isStreamed = this.#streamed.has(place);
    switch (item.type) {
      case "message":
        return this.#readMessage(item, isStreamed);
      case "function_call":
        return this.answer.addCall(place, {
          call_id: textIn(item.call_id),
          name: textIn(item.name),
          argumentsText: isStreamed ? "" : argumentsTextIn(item.arguments),
        });
      case "reasoning":
        return this.#readReasoning(item);
      case "web_search_call": {
        const { action: input = null, status: output = null } = item;
        return this.answer.addProviderCall({ name: "web_search", input, output });
      }
      case "code_interpreter_call": {
        const { code = null, outputs: output = null } = item;
        return this.answer.addProviderCall({ name: "code_execution", input: { code }, output });
      }
      default:
        this.answer.addPart(item);
    }
  }

  #readMessage({ content }: JsonObject, isStreamed: boolean): void {
    for (const part of this.answer.partsIn(content)) {
      const { refusal } = part;
      if (refusal) this.answer.refuse();
      if (!isStreamed) {
        this.answer.addPart(refusal === undefined ? part : { text: refusal, ...part });
      }
    }
  }

  #readReasoning({ summary, content }: JsonObject): void {
    const parts = [summary, content].map((field) => this.answer.partsIn(field));
    const shown = parts.find(({ length }) => length > 0) ?? [];
    this.answer.addReasoning(shown.map(({ text }) => this.answer.readText(text)).join("\n\n"));
  }
}

/** The item as the next request repeats it: with the id, the name and the arguments of its call. */
function withCall(item: JsonObject, call: ModelToolCall | undefined): JsonObject[] {
  if (item.type !== "function_call") return [item];
  if (call === undefined) return [];
  const { call_id, name } = call;
  const text = typeof item.arguments === "string"
    ? item.arguments
    : JSON.stringify(call.arguments ?? {});
  return [{ ...item, call_id, name, arguments: text }];
}

/**
 * The items of a cut answer that the next request may repeat: the API refuses reasoning that nothing
 * follows, and may parse the arguments of calls.
 */
function repeatable(items: readonly JsonObject[]): readonly JsonObject[] {
  const kept = items.flatMap((item) => {
    const { type, status, arguments: given } = item;
    if (type === "function_call") {
      return parseJsonOrUndefined(String(given), ARGUMENTS_LIMITS) === undefined
        ? [{ ...item, arguments: "{}" }]
        : [item];
    }
    return type === "message" || status !== "incomplete" && status !== "in_progress" ? [item] : [];
  });
  return kept.slice(0, kept.findLastIndex(({ type }) => type !== "reasoning") + 1);
}

function toUsage(usage: JsonObject): ModelUsage {
  return {
    input_tokens: countIn(usage.input_tokens) ?? 0,
    cached_input_tokens: countIn(asJsonObject(usage.input_tokens_details).cached_tokens) ?? 0,
    output_tokens: countIn(usage.output_tokens) ?? 0,
  };
}
