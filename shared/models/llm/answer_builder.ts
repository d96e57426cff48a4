import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { ARGUMENTS_LIMITS } from "../../platform/json/json_limits.ts";
import {
  describeExcess,
  measureJson,
  parseJsonOrUndefined,
} from "../../platform/json/parse_json.ts";
import { pathOfNul } from "../../platform/values/storable_json.ts";
import { createRedactor, type Redactor } from "../../platform/secrets/redact.ts";
import { lazily } from "../../platform/values/lazily.ts";
import type { AnswerDeltas } from "./answer_deltas.ts";
import { describePart, type Field, isOfThoughts, listIn, textIn } from "./answer_fields.ts";
import { endingOf } from "./finish_reasons.ts";
import { createModelError } from "./model_error.ts";
import type {
  ModelEndpoint,
  ModelResponse,
  ModelToolCall,
  ModelUsage,
  ProviderToolCall,
} from "./model_port.ts";
import { beginningOf } from "../../platform/values/beginning_of.ts";

/** Longest accepted answer: text plus the arguments of all tool calls. */
export const MAX_ANSWER_CHARS = 5_000_000;

/**
 * Maximum number of events of a stream and parts of an answer together. A token is at most one event,
 * and so many take an isolate about one second of CPU time.
 */
export const MAX_PIECES = 200_000;

/** Maximum number of calls in one answer; each becomes a step. */
const MAX_CALLS = 128;

/** Characters kept of arguments that did not parse. */
export const MAX_MALFORMED_CHARS = 2_000;
/** Characters shown of the path of an argument that cannot be used. */
const MAX_SHOWN_PATH = 200;

/** The name of a call that has none, so that the model learns that there is no such tool. */
const UNNAMED = "unnamed";

/** What is named of an answer that cannot be read as a whole. */
const MAX_UNREAD = 20;
const MAX_UNREAD_CHARS = 200;

/** A part of a tool call while streaming, or a whole one. */
export interface ToolCallPiece {
  /** Empty if it is unknown. @default empty */
  readonly call_id?: string;
  /** Empty if it is unknown. @default empty */
  readonly name?: string;
  /** More of the arguments' JSON text. @default none */
  readonly argumentsText?: string;
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
  readonly #redactor: () => Redactor;
  /** What cannot be read, and the words that name it. */
  readonly #unread = new Map<string, string>();
  #reason = "";
  #isRefused = false;
  #isEnded = false;
  #isLossy = false;
  #text = "";
  #reasoning = "";
  #size = 0;
  #pieces = 0;

  constructor(endpoint: ModelEndpoint, deltas: AnswerDeltas) {
    this.#endpoint = endpoint;
    this.#deltas = deltas;
    const { apiKey } = endpoint;
    this.#redactor = lazily(() => createRedactor(apiKey === null ? [] : [apiKey]));
  }

  /** Whether the answer is complete, so that nothing else of its stream is read. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The model's reason to stop; empty if it has given none. */
  get reason(): string {
    return this.#reason;
  }

  /** Takes the reason to stop; an empty one is none. */
  stop(reason: string): void {
    this.#reason = reason || this.#reason;
  }

  /** The model refuses to answer, whatever its reason to stop is. */
  refuse(): void {
    this.#isRefused = true;
  }

  /** Nothing of the answer is missing, although its parts may not say so. */
  end(): void {
    this.#isEnded = true;
  }

  /** The turn goes on in another answer. */
  resume(): void {
    this.#reason = "";
    this.#isEnded = false;
  }

  /** Names what cannot be read, so that people learn of it, without the key that it may repeat. */
  leaveOut(what: string): void {
    if (this.#unread.size === MAX_UNREAD || this.#unread.has(what)) return;
    this.#unread.set(what, this.#redactor().head(what, MAX_UNREAD_CHARS));
  }

  /**
   * Counts events of the stream or parts of the answer, which may be empty and cost CPU time all the
   * same.
   *
   * @throws SwarmError MODEL_OUTPUT_INVALID when there are too many.
   */
  count(pieces = 1): void {
    this.#pieces += pieces;
    if (this.#pieces > MAX_PIECES) {
      throw this.#invalid(`its answer has more than ${MAX_PIECES} events and parts`);
    }
  }

  /**
   * The parts of a content, be it a text, one part or a list. Those that are no parts are left out.
   *
   * @throws SwarmError MODEL_OUTPUT_INVALID when the answer has too many.
   */
  partsIn(field: Field): JsonObject[] {
    const items = listIn(field);
    this.count(items.length);
    return items.flatMap((part): JsonObject[] => {
      if (isJsonObject(part)) return [part];
      if (typeof part === "string") return [{ text: part }];
      if (part !== null) this.leaveOut(`a part that is ${JSON.stringify(part)}`);
      return [];
    });
  }

  /** Names a lost part of the stream: what is joined from pieces may lack it. */
  lose(what: string): void {
    this.leaveOut(what);
    this.#isLossy = true;
  }

  /** The text of a field; one that is none is left out. */
  readText(field: Field): string {
    const text = textIn(field);
    const isNone = field === undefined || field === null || field === "";
    if (text === "" && !isNone) this.leaveOut(`a text that is ${JSON.stringify(field)}`);
    return text;
  }

  /** @throws SwarmError MODEL_OUTPUT_INVALID when the answer grows too long. */
  addText(field: Field): void {
    const text = this.readText(field);
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
  addReasoning(field: Field): void {
    const text = this.readText(field);
    this.#grow(text);
    this.#reasoning += text;
  }

  /** Adds a part of any type by what it has: a text, or the text of thoughts. */
  addPart(part: JsonObject): void {
    if (part.text === undefined) this.leaveOut(describePart(part));
    else if (isOfThoughts(part)) this.addReasoning(part.text);
    else this.addText(part.text);
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
  addCall(number: number, { call_id = "", name = "", argumentsText = "" }: ToolCallPiece): void {
    const call = this.#calls.get(number) ?? { call_id: "", name: "", argumentsText: "" };
    if (!this.#calls.has(number) && this.#calls.size === MAX_CALLS) {
      throw this.#invalid(`it asks for more than ${MAX_CALLS} tool calls at once`);
    }
    this.#grow(argumentsText);
    call.call_id ||= call_id;
    call.name ||= name;
    call.argumentsText += argumentsText;
    this.#calls.set(number, call);
    this.#deltas.callArguments(number, call.name, argumentsText);
  }

  /** The calls so far by their numbers, each with an id that is unique in the turn. */
  calls(): ReadonlyMap<number, ModelToolCall> {
    const taken = new Set<string>();
    // A call of a cut answer without a name had not begun.
    const begun = [...this.#calls].filter(([, { name }]) => name !== "" || !this.#isCut);
    return new Map(begun.map(([number, call]) => {
      if (call.call_id === "" || taken.has(call.call_id)) call.call_id = makeCallId();
      taken.add(call.call_id);
      if (call.name === "") this.leaveOut("the name of a tool call");
      const { call_id, name, argumentsText } = call;
      return [number, { call_id, name: name || UNNAMED, ...parseArguments(argumentsText) }];
    }));
  }

  /**
   * How the answer ended. Calls of a stream of which a part is lost are not made: they may lack it.
   *
   * @throws SwarmError MODEL_OUTPUT_INVALID if the model failed, or nothing can be read;
   * MODEL_UNAVAILABLE if the answer is empty or cut off.
   */
  ending(): "stop" | "length" | "refused" {
    const hasParts = this.#text !== "" || this.#reasoning !== "" || this.#calls.size > 0;
    if (!hasParts && this.#reason === "") {
      const [unread] = this.#unread.values();
      if (unread !== undefined) throw this.#invalid(`its answer cannot be read: ${unread}`);
      throw this.#unavailable(this.#isEnded ? "its answer is empty" : "its answer was cut off");
    }
    if (this.#reason === "" && !this.#isEnded) throw this.#unavailable("its answer was cut off");
    if (this.#isLossy && this.#calls.size > 0) {
      throw this.#invalid(
        "a part of its stream cannot be read, so its tool calls may be incomplete",
      );
    }
    const ending = this.#reason === "" ? "stop" : endingOf(this.#reason);
    if (ending === "failed") throw this.#invalid(`the model stopped with ${this.#reason}`);
    if (ending === "interrupted") throw this.#unavailable(`it stopped with ${this.#reason}`);
    if (ending === undefined) this.leaveOut(`the reason why it stopped: ${this.#reason}`);
    return this.#isRefused ? "refused" : ending ?? "stop";
  }

  /** The answer; a refused turn has no calls, because a filter may have ended it within one. */
  finish(usage: ModelUsage, providerData?: JsonValue): ModelResponse {
    const ending = this.ending();
    const isBroken = ending === "refused" && this.#calls.size > 0;
    const toolCalls = isBroken ? [] : [...this.calls().values()];
    // What is left of an answer that was cut while the model reasoned is of no use to the next request.
    const isNothing = ending === "length" && this.#text === "" && toolCalls.length === 0;
    return {
      text: this.#text,
      tool_calls: toolCalls,
      finish_reason: ending === "stop" && toolCalls.length > 0 ? "tool_calls" : ending,
      usage: toPlausibleUsage({ ...usage, ...this.#countProviderCalls(usage) }),
      ...definedOnly({
        reasoning: this.#reasoning === "" ? undefined : this.#reasoning,
        provider_tool_calls: this.#providerCalls.length === 0 ? undefined : this.#providerCalls,
        unread: this.#unread.size === 0 ? undefined : [...new Set(this.#unread.values())],
        provider_data: isBroken || isNothing ? undefined : providerData,
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

  get #isCut(): boolean {
    return endingOf(this.#reason) === "length";
  }

  #invalid(message: string): SwarmError {
    return createModelError(this.#endpoint, { code: "MODEL_OUTPUT_INVALID", message });
  }

  #unavailable(message: string): SwarmError {
    return createModelError(this.#endpoint, { code: "MODEL_UNAVAILABLE", message });
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

/**
 * A tool call's arguments. The model sees a text that is none again, or that PostgreSQL cannot store,
 * so that it can correct itself.
 */
function parseArguments(
  text: string,
): Pick<ModelToolCall, "arguments" | "malformed" | "malformed_reason"> {
  const value = argumentsOf(text);
  const nulPath = value === null ? null : pathOfNul(value);
  if (value !== null && nulPath === null) return { arguments: value };
  // The kept text may end before the part that explains it.
  return {
    arguments: null,
    malformed: text.slice(0, MAX_MALFORMED_CHARS),
    ...definedOnly({ malformed_reason: reasonOf(text, nulPath) }),
  };
}

/** Why arguments cannot be used, and what the model can do; undefined if they are no JSON object. */
function reasonOf(text: string, nulPath: string | null): string | undefined {
  if (nulPath !== null) {
    const place = beginningOf(nulPath, MAX_SHOWN_PATH);
    return `${place} contains the character U+0000, which cannot be stored.\n` +
      "Call the tool again without it.";
  }
  const excess = measureJson(text, ARGUMENTS_LIMITS);
  if (excess === null) return undefined;
  const advice = excess.limit === "digits"
    ? "Call the tool again with such a number as text, if its schema takes text."
    : "Call the tool again with less.";
  return `${describeExcess(excess)}.\n${advice}`;
}

/** Models send none as an empty string, null or an empty list, and some servers encode them twice. */
function argumentsOf(value: JsonValue | undefined): JsonObject | null {
  if (isJsonObject(value)) return value;
  if (value === null || Array.isArray(value) && value.length === 0) return {};
  if (typeof value !== "string") return null;
  return value.trim() === "" ? {} : argumentsOf(parseJsonOrUndefined(value, ARGUMENTS_LIMITS));
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
