import type { Json, JsonObject } from "../../../../client/mod.ts";
import { isJsonObject, readableJson, readJsonText } from "../../format/json_text.ts";

/** How a fork changes the call at which it begins. */
export type CallChange = "none" | "arguments" | "answer";

/** The contents of the fork dialog. */
export interface ForkDraft {
  changesInput: boolean;
  /** Plain text if the task's input is text, otherwise JSON. */
  input: string;
  callChange: CallChange;
  /** JSON of an object. */
  arguments: string;
  /** The answer of a tool or subtask: JSON if it parses as JSON, otherwise text. */
  answer: string;
  isApproved: boolean;
  /** The reviewer's answer in addition to the decision, as JSON. */
  response: string;
  comments: string;
}

/** The values that the changes start from. */
export interface ForkOrigin {
  readonly input: Json;
  readonly step: {
    readonly kind: string;
    readonly name: string | null;
    readonly call_id: string | null;
    readonly input: Json;
    readonly output: Json;
  } | null;
}

/** The `p_changes` of `fork_task`, null for a fork without changes, or a problem to fix. */
export type ForkReading =
  | { readonly kind: "changes"; readonly changes: Record<string, Json> | null }
  | { readonly kind: "problem"; readonly message: string };

/** A draft without changes, filled with the task's values. */
export function forkDraft({ input, step }: ForkOrigin): ForkDraft {
  const { arguments: given } = objectOf(step?.input);
  const { text } = objectOf(step?.output);
  return {
    changesInput: false,
    input: typeof input === "string" ? input : readableJson(input),
    callChange: "none",
    arguments: readableJson(given ?? {}),
    answer: typeof text === "string" ? text : "",
    isApproved: true,
    response: "{}",
    comments: "",
  };
}

export function callChangesOf({ step }: ForkOrigin): readonly CallChange[] {
  if (step === null || step.call_id === null) return ["none"];
  const takesAnswer = step.kind === "tool" || isReview(step) || step.name === "create_subtask";
  return takesAnswer ? ["none", "arguments", "answer"] : ["none", "arguments"];
}

/** True if the answer is a reviewer's decision. */
export function isReview(step: ForkOrigin["step"]): boolean {
  return step?.kind === "system" && step.name === "request_human_review";
}

/** The changes that the draft requests. */
export function readForkDraft(draft: ForkDraft, origin: ForkOrigin): ForkReading {
  const changes: Record<string, Json> = {};
  if (draft.changesInput) {
    const input = readInput(draft.input, origin.input);
    if (input.kind === "problem") return input;
    changes.input = input.value;
  }
  if (draft.callChange === "arguments") {
    const reading = readObject(draft.arguments, "The arguments");
    if (reading.kind === "problem") return reading;
    changes.arguments = reading.value;
  }
  if (draft.callChange === "answer") {
    const answer = readAnswer(draft, origin);
    if (answer.kind === "problem") return answer;
    changes.answer = answer.value;
  }
  return { kind: "changes", changes: Object.keys(changes).length === 0 ? null : changes };
}

type ValueReading =
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "problem"; readonly message: string };

function readInput(text: string, original: Json): ValueReading {
  if (typeof original !== "string") return readObject(text, "The input");
  if (text.trim() === "") return problem("The input is empty");
  return { kind: "value", value: text };
}

function readAnswer(draft: ForkDraft, { step }: ForkOrigin): ValueReading {
  if (!isReview(step)) {
    if (draft.answer.trim() === "") return problem("The answer is empty");
    const reading = readJsonText(draft.answer);
    return reading.kind === "value" ? reading : { kind: "value", value: draft.answer };
  }
  const response = readJsonText(draft.response.trim() === "" ? "{}" : draft.response);
  if (response.kind === "problem") return response;
  const comments = draft.comments.trim();
  return {
    kind: "value",
    value: {
      approved: draft.isApproved,
      response: response.value,
      comments: comments === "" ? null : comments,
    },
  };
}

function readObject(text: string, what: string): ValueReading {
  const reading = readJsonText(text);
  if (reading.kind === "problem") return reading;
  return isJsonObject(reading.value) ? reading : problem(`${what} must be a JSON object`);
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function problem(message: string) {
  return { kind: "problem", message } as const;
}
