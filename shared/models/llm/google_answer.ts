import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../platform/values/json.ts";
import { AnswerBuilder } from "./answer_builder.ts";
import type { AnswerDeltas } from "./answer_deltas.ts";
import { argumentsTextIn, countIn, describePart, listIn, textIn } from "./answer_fields.ts";
import { toGoogleData } from "./google_contents.ts";
import type { ModelEndpoint, ModelResponse, ModelToolCall, ModelUsage } from "./model_port.ts";
import type { AnswerReader } from "./read_answer.ts";

/** Parts with the uses of the API's own tools. */
const OWN_PARTS = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"];

/** Reads one whole response or the chunks of a stream, which have the same shape. */
export class GoogleAnswerReader implements AnswerReader {
  readonly answer: AnswerBuilder;
  /** The parts as the API wrote them, the call of each by its position. */
  readonly #parts: JsonObject[] = [];
  readonly #searches = new Set<string>();
  #pages: readonly JsonValue[] = [];
  #usage: JsonObject = {};

  constructor(endpoint: ModelEndpoint, deltas: AnswerDeltas) {
    this.answer = new AnswerBuilder(endpoint, deltas);
  }

  read({ candidates, promptFeedback, usageMetadata }: JsonObject): void {
    const candidate = asJsonObject(listIn(candidates).find(isJsonObject));
    if (isJsonObject(usageMetadata)) this.#usage = usageMetadata;
    const { content } = candidate;
    const parts = isJsonObject(content) ? content.parts : content;
    for (const part of this.answer.partsIn(parts)) this.#readPart(part);
    this.answer.stop(textIn(candidate.finishReason));
    const { webSearchQueries, groundingChunks } = asJsonObject(candidate.groundingMetadata);
    for (const query of listIn(webSearchQueries)) this.#searches.add(textIn(query));
    const pages = listIn(groundingChunks).flatMap((chunk) => asJsonObject(chunk).web ?? []);
    if (pages.length > 0) this.#pages = pages;
    const { blockReason, blockReasonMessage } = asJsonObject(promptFeedback);
    if (textIn(blockReason) === "") return;
    this.answer.addText(blockReasonMessage);
    this.answer.stop("SAFETY");
  }

  finish(): ModelResponse {
    const isCut = this.answer.ending() === "length";
    const parts = isCut ? withoutOpenProgram(this.#parts) : this.#parts;
    this.#addProviderCalls(parts);
    const calls = this.answer.calls();
    const places = new Map(this.#parts.map((part, place) => [part, place]));
    const kept = parts.flatMap((part) => this.#withCall(part, calls.get(places.get(part) ?? -1)));
    return this.answer.finish(toUsage(this.#usage), toGoogleData(kept));
  }

  /** The part as the next request repeats it; an id that another call has too got a new one. */
  #withCall(part: JsonObject, call: ModelToolCall | undefined): JsonObject[] {
    if (part.functionCall === undefined) return [part];
    if (call === undefined) return [];
    const { id, args, ...made } = asJsonObject(part.functionCall);
    const functionCall = {
      ...made,
      name: call.name,
      args: isJsonObject(args) ? args : call.arguments ?? {},
      ...textIn(id) === "" ? {} : { id: call.call_id },
    };
    return [{ ...part, functionCall }];
  }

  /** The API does not report which search found which page. */
  #addProviderCalls(parts: readonly JsonObject[]): void {
    for (const [index, query] of [...this.#searches].entries()) {
      const output = index === 0 ? this.#pages : null;
      this.answer.addProviderCall({ name: "web_search", input: { query }, output });
    }
    const results = parts.map((part) => part.codeExecutionResult).filter(isJsonObject);
    const programs = parts.map((part) => part.executableCode).filter(isJsonObject);
    for (const [index, { code = "" }] of programs.entries()) {
      const output = results[index]?.output ?? null;
      this.answer.addProviderCall({ name: "code_execution", input: { code }, output });
    }
  }

  #readPart(given: JsonObject): void {
    const members = Object.entries(given).filter(([, value]) => value !== null);
    const part: JsonObject = Object.fromEntries(members);
    const { text, thought, functionCall } = part;
    if (thought) this.answer.addReasoning(text);
    else this.answer.addText(text);
    if (functionCall !== undefined) {
      const { id, name, args, partialArgs, willContinue } = asJsonObject(functionCall);
      // Only requests that ask for it get arguments in pieces.
      if (partialArgs || willContinue) this.answer.lose("a piece of a call's arguments");
      this.answer.addCall(this.#parts.length, {
        call_id: textIn(id),
        name: textIn(name),
        argumentsText: argumentsTextIn(args),
      });
    } else if (
      text === undefined && !OWN_PARTS.some((name) => name in part) && !isSignature(part)
    ) {
      this.answer.leaveOut(describePart(part));
    }
    // Streamed text arrives in many parts; parts without signatures are merged.
    const last = this.#parts.at(-1);
    const isMore = isPlainText(part) && last !== undefined && isPlainText(last) &&
      thought === last.thought;
    if (isMore) this.#parts[this.#parts.length - 1] = { ...last, text: `${last.text}${text}` };
    else this.#parts.push(part);
  }
}

/** The parts of a cut answer without a program that was cut before it ran. */
function withoutOpenProgram(parts: readonly JsonObject[]): readonly JsonObject[] {
  const lastResult = parts.findLastIndex((part) => part.codeExecutionResult !== undefined);
  return parts.filter((part, index) => part.executableCode === undefined || index < lastResult);
}

function isPlainText(part: JsonObject): boolean {
  return part.text !== undefined &&
    Object.keys(part).every((key) => key === "text" || key === "thought");
}

/** The signature of a text may follow in a part of its own. */
function isSignature(part: JsonObject): boolean {
  return Object.keys(part).every((key) => key === "thoughtSignature" || key === "thought");
}

function toUsage(usage: JsonObject): ModelUsage {
  const count = (name: string) => countIn(usage[name]) ?? 0;
  return {
    input_tokens: count("promptTokenCount") + count("toolUsePromptTokenCount"),
    cached_input_tokens: count("cachedContentTokenCount"),
    output_tokens: count("candidatesTokenCount") + count("thoughtsTokenCount"),
  };
}
