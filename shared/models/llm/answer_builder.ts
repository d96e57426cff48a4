import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { isJsonObject, type JsonValue } from "../../platform/values/json.ts";
import { ARGUMENTS_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJsonOrUndefined } from "../../platform/json/parse_json.ts";
import type { AnswerDeltas } from "./answer_deltas.ts";
import { createModelError } from "./model_error.ts";
import type {
  ModelEndpoint,
  ModelResponse,
  ModelToolCall,
  ModelUsage,
  ProviderToolCall,
} from "./model_port.ts";

/** Longest accepted answer: text plus the arguments of all tool calls. */
export const MAX_ANSWER_CHARS = 5_000_000;

/** Maximum number of calls in one answer; each becomes a step. */
const MAX_CALLS = 128;

/** Characters kept of arguments that did not parse. */
export const MAX_MALFORMED_CHARS = 2_000;

/** A part of a tool call while streaming, or a whole one. */
export interface ToolCallPiece {
  readonly call_id?: string | null | undefined;
  readonly name?: string | null | undefined;
  /** More of the arguments' JSON text. */
  readonly argumentsText?: string | null | undefined;
}

interface OpenCall {
  call_id: string;
  name: string;
  argumentsText: string;
}

/** Assembles an answer from its parts, in order of arrival. */
export class AnswerBuilder {
  readonly #endpoint: ModelEndpoint;
  readonly #deltas: AnswerDeltas;
  readonly #calls = new Map<number, OpenCall>();
  readonly #providerCalls: ProviderToolCall[] = [];
  #text = "";
  #reasoning = "";
  #size = 0;

  constructor(endpoint: ModelEndpoint, deltas: AnswerDeltas) {
    this.#endpoint = endpoint;
    this.#deltas = deltas;
  }

  /** @throws SwarmError MODEL_OUTPUT_INVALID when the answer grows too long. */
  addText(text: string): void {
    if (text === "") return;
    this.#grow(text);
    this.#text += text;
    this.#deltas.text(text);
  }

  /**
   * Appends to the model's thoughts.
   *
   * @throws SwarmError MODEL_OUTPUT_INVALID when the answer grows too long.
   */
  addReasoning(text: string): void {
    this.#grow(text);
    this.#reasoning += text;
  }

  /** Adds a tool call that the provider ran itself. */
  addProviderCall({ name, input, output }: ProviderToolCall): void {
    if (this.#providerCalls.length === MAX_CALLS) return;
    this.#providerCalls.push({ name, input: toTraceable(input), output: toTraceable(output) });
  }

  /**
   * Appends to the call with this number, or starts it.
   *
   * @throws SwarmError MODEL_OUTPUT_INVALID when the answer grows too long or has too many calls.
   */
  addCall(number: number, piece: ToolCallPiece): void {
    const call = this.#calls.get(number) ?? { call_id: "", name: "", argumentsText: "" };
    if (!this.#calls.has(number) && this.#calls.size === MAX_CALLS) {
      throw this.#invalid(`it asks for more than ${MAX_CALLS} tool calls at once`);
    }
    this.#grow(piece.argumentsText ?? "");
    const name = call.name || (piece.name ?? "");
    this.#calls.set(number, {
      call_id: call.call_id || (piece.call_id ?? ""),
      name,
      argumentsText: call.argumentsText + (piece.argumentsText ?? ""),
    });
    this.#deltas.callArguments(number, name, piece.argumentsText ?? "");
  }

  /** The calls so far, each with an id that is unique in the turn. */
  toolCalls(): ModelToolCall[] {
    const taken = new Set<string>();
    return [...this.#calls.values()].map((call) => {
      if (call.name === "") throw this.#invalid("it asked for a tool call without a name");
      const callId = call.call_id === "" || taken.has(call.call_id) ? makeCallId() : call.call_id;
      taken.add(callId);
      return { call_id: callId, name: call.name, ...parseArguments(call.argumentsText) };
    });
  }

  /** @param stopped Why the model stopped; `stop` is corrected if there are tool calls. */
  finish(
    stopped: ModelResponse["finish_reason"],
    usage: ModelUsage,
    providerData?: JsonValue,
  ): ModelResponse {
    const toolCalls = this.toolCalls();
    const ended = toolCalls.length > 0 ? "tool_calls" : "stop";
    return {
      text: this.#text,
      tool_calls: toolCalls,
      finish_reason: stopped === "length" || stopped === "refused" ? stopped : ended,
      usage: toPlausibleUsage({ ...usage, ...this.#countProviderCalls(usage) }),
      ...definedOnly({
        reasoning: this.#reasoning === "" ? undefined : this.#reasoning,
        provider_tool_calls: this.#providerCalls.length === 0 ? undefined : this.#providerCalls,
        provider_data: providerData,
      }),
    };
  }

  /** The provider's own counts take precedence over what the answer shows. */
  #countProviderCalls({ web_search_calls, code_execution_calls }: ModelUsage): Partial<ModelUsage> {
    const count = (name: ProviderToolCall["name"]) =>
      this.#providerCalls.filter((call) => call.name === name).length || undefined;
    return definedOnly({
      web_search_calls: web_search_calls ?? count("web_search"),
      code_execution_calls: code_execution_calls ?? count("code_execution"),
    });
  }

  #grow(text: string): void {
    this.#size += text.length;
    if (this.#size > MAX_ANSWER_CHARS) {
      throw this.#invalid(`its answer is longer than ${MAX_ANSWER_CHARS} characters`);
    }
  }

  #invalid(message: string): SwarmError {
    return createModelError(this.#endpoint, { code: "MODEL_OUTPUT_INVALID", message });
  }
}

/** A server that reports more miscounts; the limit keeps sums within what the database stores. */
const MAX_COUNT = 1_000_000_000;

/**
 * Counts as the ledger takes them, whatever a server reports: whole, not negative, and with the
 * cached tokens among those of the input, of which a negative cost would give a job money back.
 */
function toPlausibleUsage(usage: ModelUsage): ModelUsage {
  const counts = Object.fromEntries(
    Object.entries(usage).map(([name, count]) => [
      name,
      Math.ceil(Math.min(Math.max(count, 0), MAX_COUNT)),
    ]),
  ) as unknown as ModelUsage;
  const { cached_input_tokens: cached, cache_write_input_tokens: written = 0 } = counts;
  return { ...counts, input_tokens: Math.max(counts.input_tokens, cached + written) };
}

/** A tool call's arguments; an empty text, as some models send it, means none. */
function parseArguments(text: string): Pick<ModelToolCall, "arguments" | "malformed"> {
  if (text.trim() === "") return { arguments: {} };
  const value = parseJsonOrUndefined(text, ARGUMENTS_LIMITS);
  if (isJsonObject(value)) return { arguments: value };
  // The model sees the text again as `malformed`, so that it can correct itself.
  return { arguments: null, malformed: text.slice(0, MAX_MALFORMED_CHARS) };
}

function makeCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "")}`;
}

/** Maximum length of a text from a provider's own tool in a trace. */
const MAX_TRACED_CHARS = 2_000;
const MAX_TRACED_ITEMS = 20;

/**
 * A value as shown in a trace: long texts and lists are truncated, encrypted content is omitted.
 */
function toTraceable(value: JsonValue): JsonValue {
  if (typeof value === "string") {
    return value.length > MAX_TRACED_CHARS ? `${value.slice(0, MAX_TRACED_CHARS)} …` : value;
  }
  if (Array.isArray(value)) return value.slice(0, MAX_TRACED_ITEMS).map(toTraceable);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !key.startsWith("encrypted"));
  return Object.fromEntries(
    kept.slice(0, MAX_TRACED_ITEMS).map(([key, item]) => [key, toTraceable(item)]),
  );
}
