import { definedOnly } from "../../platform/values/defined_only.ts";
import { RESULT_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../platform/json/parse_json.ts";
import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../platform/values/json.ts";
import { AnswerBuilder } from "./answer_builder.ts";
import type { AnswerDeltas } from "./answer_deltas.ts";
import {
  argumentsTextIn,
  countIn,
  describePart,
  type Field,
  isOfThoughts,
  textIn,
} from "./answer_fields.ts";
import { type AnswerBlock, toAnthropicData, toWireBlock } from "./anthropic_messages.ts";
import type { ModelEndpoint, ModelResponse, ModelUsage, ProviderToolCall } from "./model_port.ts";
import type { AnswerReader } from "./read_answer.ts";

/** Blocks that are sent back unchanged. */
const OWN_BLOCKS = /_tool_(use|result)$|^redacted_thinking$/;

/** A block while it streams in. */
type Block =
  | { readonly kind: "text"; text: string; readonly citations: JsonValue[] }
  | { readonly kind: "thinking"; thinking: string; signature: string }
  | { readonly kind: "call" }
  | { readonly kind: "provider"; readonly block: JsonObject; inputText: string };

/**
 * Reads a whole message, or a stream's events, into an answer. If the provider pauses a turn while
 * its own tools run, several messages are read in sequence.
 */
export class AnthropicAnswerReader implements AnswerReader {
  readonly answer: AnswerBuilder;
  readonly #blocks: Block[] = [];
  /** The place of each block of the current message, by its index in the stream. */
  readonly #places = new Map<number, number>();
  #usage: JsonObject = {};
  #earlierUsage: ModelUsage | null = null;
  #containerId: string | undefined;

  constructor(endpoint: ModelEndpoint, deltas: AnswerDeltas) {
    this.answer = new AnswerBuilder(endpoint, deltas);
  }

  read(document: JsonObject): void {
    switch (document.type) {
      case "message_start":
        // Blocks that it may have come as events too.
        return this.#readMessage({ ...asJsonObject(document.message), content: null });
      case "content_block_start":
        return this.#start(asJsonObject(document.content_block), document.index);
      case "content_block_delta":
        return this.#extend(asJsonObject(document.delta), document.index);
      case "message_delta":
        return this.#readMessage({
          ...asJsonObject(document.delta),
          usage: document.usage ?? null,
        });
      case "message_stop":
        if (this.answer.reason === "") this.answer.stop("stop");
        return;
      default:
        // Other events carry nothing this product needs, and the API may add some at any time.
        if (document.content !== undefined) this.#readMessage(document);
    }
  }

  /**
   * The state that continues a paused turn in the next request; null if the turn has ended.
   */
  resumption(): { readonly content: readonly JsonObject[]; readonly container?: string } | null {
    if (this.answer.reason !== "pause_turn") return null;
    this.#earlierUsage = this.#totalUsage();
    this.#usage = {};
    this.#places.clear();
    this.answer.resume();
    const content = this.#answerBlocks().map(toWireBlock);
    return { content, ...definedOnly({ container: this.#containerId }) };
  }

  /** @throws SwarmError MODEL_UNAVAILABLE if the answer is cut off. */
  finish(): ModelResponse {
    const isCut = this.answer.ending() === "length";
    const blocks = isCut ? wholeOf(this.#answerBlocks()) : this.#answerBlocks();
    for (const use of providerUses(blocks)) this.answer.addProviderCall(use);
    return this.answer.finish(this.#totalUsage(), toAnthropicData(blocks));
  }

  /** A whole message, or what one event says of it. */
  #readMessage({ content, usage, stop_reason: reason, container }: JsonObject): void {
    for (const block of this.answer.partsIn(content)) this.#start(block);
    const counted = Object.entries(asJsonObject(usage)).filter(([, tokens]) => tokens !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(counted) };
    this.answer.stop(textIn(reason));
    this.#containerId = textIn(asJsonObject(container).id) || this.#containerId;
  }

  #start(block: JsonObject, index?: Field): void {
    const place = this.#blocks.length;
    this.#places.set(countIn(index) ?? place, place);
    const { type } = block;
    if (type === "tool_use") {
      this.#blocks.push({ kind: "call" });
      // A streamed call starts with an empty object and then sends its arguments as text.
      const input = argumentsTextIn(block.input);
      const argumentsText = input === "{}" ? "" : input;
      this.answer.addCall(place, {
        call_id: textIn(block.id),
        name: textIn(block.name),
        argumentsText,
      });
    } else if (type === "thinking" || isOfThoughts(block) && block.text !== undefined) {
      const thinking = block.thinking ?? block.text;
      const signature = textIn(block.signature);
      this.#blocks.push({ kind: "thinking", thinking: textIn(thinking), signature });
      this.answer.addReasoning(thinking);
    } else if (type === "text" || block.text !== undefined) {
      const { citations } = block;
      this.#blocks.push({
        kind: "text",
        text: textIn(block.text),
        citations: Array.isArray(citations) ? [...citations] : [],
      });
      this.answer.addText(block.text);
    } else {
      this.#blocks.push({ kind: "provider", block, inputText: "" });
      if (!OWN_BLOCKS.test(textIn(type))) this.answer.leaveOut(describePart(block));
    }
  }

  #extend(delta: JsonObject, index: Field): void {
    const given = countIn(index);
    const place = given === undefined ? this.#blocks.length - 1 : this.#places.get(given) ?? -1;
    const block = this.#blocks[place];
    switch (block?.kind) {
      case undefined:
        // Some servers do not send a block's beginning.
        this.#start({ type: typeOfDelta(delta) }, index);
        return this.#extend(delta, index);
      case "text":
        block.text += textIn(delta.text);
        this.answer.addText(delta.text);
        if (delta.citation !== undefined) block.citations.push(delta.citation);
        return;
      case "call":
        return this.answer.addCall(place, { argumentsText: argumentsTextIn(delta.partial_json) });
      case "thinking": {
        const thinking = delta.thinking ?? delta.text;
        block.thinking += textIn(thinking);
        block.signature += textIn(delta.signature);
        return this.answer.addReasoning(thinking);
      }
      case "provider":
        block.inputText += textIn(delta.partial_json);
        if (isOfThoughts(block.block)) this.answer.addReasoning(delta.text);
        else this.answer.addText(delta.text);
    }
  }

  #totalUsage(): ModelUsage {
    const usage = toUsage(this.#usage);
    return this.#earlierUsage === null ? usage : addUsage(this.#earlierUsage, usage);
  }

  #answerBlocks(): AnswerBlock[] {
    const calls = this.answer.calls();
    return this.#blocks.flatMap((block, place): AnswerBlock[] => {
      switch (block.kind) {
        case "call": {
          const call = calls.get(place);
          if (call === undefined) return [];
          const { call_id: id, name, arguments: input } = call;
          return [{ type: "tool_use", id, name, input: input ?? {} }];
        }
        case "text": {
          const { text, citations } = block;
          if (text === "") return [];
          return [{ type: "text", text, ...citations.length === 0 ? {} : { citations } }];
        }
        case "thinking":
          return [{ type: "thinking", thinking: block.thinking, signature: block.signature }];
        case "provider":
          return [{ type: "provider", block: withInput(block) }];
      }
    });
  }
}

function typeOfDelta({ partial_json: input, thinking }: JsonObject): string {
  return input !== undefined ? "tool_use" : thinking !== undefined ? "thinking" : "text";
}

/** A streamed tool-use block has its input as text. */
function withInput(
  { block, inputText }: { readonly block: JsonObject; readonly inputText: string },
): JsonObject {
  const input = parseJsonOrUndefined(inputText, RESULT_LIMITS);
  return isJsonObject(input) ? { ...block, input } : block;
}

/** Those of a cut answer that the API accepts: thinking is signed, and its own tools have results. */
function wholeOf(blocks: readonly AnswerBlock[]): readonly AnswerBlock[] {
  const results = new Set(
    blocks.map((block) => block.type === "provider" ? block.block.tool_use_id : undefined),
  );
  return blocks.filter((block) => {
    if (block.type === "thinking") return block.signature !== "";
    if (block.type !== "provider" || block.block.type !== "server_tool_use") return true;
    return results.has(block.block.id);
  });
}

/** The calls of the provider's own tools, each with its result. */
function providerUses(blocks: readonly AnswerBlock[]): ProviderToolCall[] {
  const own = blocks.flatMap((block) => block.type === "provider" ? [block.block] : []);
  // In reverse, because the first result of a call counts.
  const results = new Map(own.toReversed().map((block) => [block.tool_use_id, block]));
  return own.flatMap((use): ProviderToolCall[] => {
    const name = use.type === "server_tool_use" ? providerToolOf(use.name) : null;
    if (name === null) return [];
    const output = results.get(use.id)?.content ?? null;
    return [{ name, input: use.input ?? null, output }];
  });
}

function providerToolOf(name: JsonValue | undefined): ProviderToolCall["name"] | null {
  if (name === "web_search") return "web_search";
  // The API uses separate tools to run commands and to edit files.
  return typeof name === "string" && name.endsWith("code_execution") ? "code_execution" : null;
}

/** The API counts cache reads and writes separately from the rest of the input. */
function toUsage(usage: JsonObject): ModelUsage {
  const count = (name: string) => countIn(usage[name]) ?? 0;
  const cachedInputTokens = count("cache_read_input_tokens");
  const written = count("cache_creation_input_tokens");
  const searches = countIn(asJsonObject(usage.server_tool_use).web_search_requests);
  return {
    input_tokens: count("input_tokens") + cachedInputTokens + written,
    cached_input_tokens: cachedInputTokens,
    ...(written === 0 ? {} : { cache_write_input_tokens: written }),
    output_tokens: count("output_tokens"),
    ...definedOnly({ web_search_calls: searches || undefined }),
  };
}

/** The combined usage of the requests for one answer. */
function addUsage(first: ModelUsage, second: ModelUsage): ModelUsage {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]) as Set<keyof ModelUsage>;
  const sums = [...names].map((name) => [name, (first[name] ?? 0) + (second[name] ?? 0)] as const);
  return { ...first, ...second, ...Object.fromEntries(sums) };
}
