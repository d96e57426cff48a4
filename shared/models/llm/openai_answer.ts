import { asJsonObject, isJsonObject, type JsonObject } from "../../platform/values/json.ts";
import { AnswerBuilder } from "./answer_builder.ts";
import type { AnswerDeltas } from "./answer_deltas.ts";
import { argumentsTextIn, countIn, isFilled, listIn, textIn } from "./answer_fields.ts";
import type { ModelEndpoint, ModelResponse, ModelUsage } from "./model_port.ts";
import { isThinkingPart } from "./openai_content.ts";
import { OpenAiReasoning } from "./openai_reasoning.ts";
import type { AnswerReader } from "./read_answer.ts";

/** The call that a chunk belongs to, from the chunk and its position in the message. */
type NumberOfCall = (call: JsonObject, position: number) => number;

/** Reads a whole completion, or a stream's chunks, into an answer. */
export class OpenAiAnswerReader implements AnswerReader {
  readonly answer: AnswerBuilder;
  readonly #numberOf = createCallNumbering();
  readonly #reasoning = new OpenAiReasoning();
  #usage: JsonObject = {};

  constructor(endpoint: ModelEndpoint, deltas: AnswerDeltas) {
    this.answer = new AnswerBuilder(endpoint, deltas);
  }

  read({ choices, usage }: JsonObject): void {
    const [choice] = this.answer.partsIn(choices);
    if (isJsonObject(usage)) this.#usage = usage;
    if (choice === undefined) {
      // The last chunk has the usage and no choice: the answer is complete, also without a reason.
      if (isJsonObject(usage) && this.answer.reason === "") this.answer.stop("stop");
      return;
    }
    const { message = null, delta, finish_reason: reason } = choice;
    const numberOf: NumberOfCall = message === null ? this.#numberOf : (_, position) => position;
    const [read] = this.answer.partsIn(message ?? delta);
    if (read !== undefined) this.#readMessage(read, numberOf);
    this.answer.stop(textIn(reason));
  }

  /** @throws SwarmError MODEL_UNAVAILABLE if the answer is cut off. */
  finish(): ModelResponse {
    this.answer.addReasoning(this.#reasoning.text);
    return this.answer.finish(toUsage(this.#usage), this.#reasoning.toResponsesData());
  }

  #readMessage(message: JsonObject, numberOf: NumberOfCall): void {
    const { content, refusal, tool_calls: calls } = message;
    this.#reasoning.add(message);
    // A message that is only a text.
    this.answer.addText(message.text);
    for (const part of this.answer.partsIn(content)) {
      if (!isThinkingPart(part)) this.answer.addPart(part);
    }
    if (refusal) {
      this.answer.refuse();
      if (listIn(content).every((part) => part === "")) this.answer.addText(refusal);
    }
    for (const kind of ["audio", "images"]) {
      if (isFilled(message[kind])) this.answer.leaveOut(`its ${kind}`);
    }
    for (const [position, call] of listIn(calls).entries()) {
      if (isJsonObject(call)) this.#readCall(call, numberOf(call, position));
      else if (call !== null) this.answer.leaveOut(`a tool call that is ${JSON.stringify(call)}`);
    }
  }

  /** Some servers send the members of the function as those of the call. */
  #readCall(call: JsonObject, number: number): void {
    const { name, arguments: args } = isJsonObject(call.function) ? call.function : call;
    this.answer.addCall(number, {
      call_id: textIn(call.id),
      name: textIn(name),
      argumentsText: argumentsTextIn(args),
    });
  }
}

/**
 * Numbers the calls of a stream. Chunks of one call share an index, but some compatible servers
 * send whole calls without an index or all with 0: then a new id means a new call, and none the last.
 */
function createCallNumbering(): NumberOfCall {
  const numbers = new Map<number, { number: number; id: string }>();
  let last = -1;
  let lastIndex = 0;
  return (call) => {
    const id = textIn(call.id);
    const index = countIn(call.index) ?? (id === "" ? lastIndex : 0);
    const open = numbers.get(index);
    lastIndex = index;
    if (open !== undefined && (id === "" || id === open.id)) return open.number;
    numbers.set(index, { number: ++last, id });
    return last;
  };
}

function toUsage(usage: JsonObject): ModelUsage {
  return {
    input_tokens: countIn(usage.prompt_tokens) ?? 0,
    cached_input_tokens: countIn(asJsonObject(usage.prompt_tokens_details).cached_tokens) ?? 0,
    output_tokens: countIn(usage.completion_tokens) ?? 0,
  };
}
