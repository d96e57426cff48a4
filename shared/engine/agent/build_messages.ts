import { definedOnly } from "../../platform/values/defined_only.ts";
import type { JsonValue } from "../../platform/values/json.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";
import type { FileFacts } from "../../models/llm/file_tokens.ts";
import type { ModelAnswer, ModelFile, ModelMessage } from "../../models/llm/model_port.ts";
import { z } from "../../vendor/zod.js";
import { type CompletionTerms, judgePlainAnswer } from "./completion.ts";
import { checkedMessage } from "./guardrails.ts";
import { type ResultFile, shownFiles } from "./result_files.ts";
import { isErrorResult, resultText } from "./result_text.ts";
import { summaryMessage } from "./summary_prompt.ts";
import type { LeftOut, Step } from "./task_context.ts";
import { isPlainAnswer, lastMessageSeq, readTurns, type Turn, type TurnCall } from "./turns.ts";

/** Longest result that is never shortened. */
const MAX_WHOLE_CHARS = 1_500;
const HEAD_CHARS = 800;
const TAIL_CHARS = 400;

/** Options of a prompt that contains the whole transcript. */
export const NOTHING_LEFT_OUT: LeftOut = { results_through: 0, summary_seq: null };

/** How a conversation is rebuilt. */
export interface MessageOptions {
  /** Parts of the transcript to shorten or summarize. @default nothing */
  readonly leftOut?: LeftOut;
  /**
   * Adds a result's step to its text, for a reader that must cite it. @default the unchanged text
   */
  readonly label?: (text: string, seq: number) => string;
  /** Type and size of the user's files, by path. @default unknown */
  readonly fileFacts?: ReadonlyMap<string, FileFacts>;
}

/**
 * Rebuilds the conversation from the transcript: the task, then each turn's answer, the results of
 * its calls in call order, and the messages with which the user continued the task. Unfinished
 * turns are omitted. User messages are never changed.
 */
export function buildMessages(
  input: JsonValue,
  steps: readonly Step[],
  terms: CompletionTerms,
  options: MessageOptions = {},
): readonly ModelMessage[] {
  const { leftOut = NOTHING_LEFT_OUT, label = (text) => text, fileFacts = new Map() } = options;
  const summary = summaryOf(steps, leftOut);
  const lastSeq = lastMessageSeq(steps);
  const turns = new Map(readTurns(steps).map((turn) => [turn.modelSeq, turn]));
  const resultsThrough = leftOut.results_through;
  const shown = shownFiles(steps, Math.max(resultsThrough, summary.through));
  const reading = { terms, lastSeq, resultsThrough, label, shown };
  const messagesOf = (step: Step): readonly ModelMessage[] => {
    if (step.kind === "user") {
      return [userMessage(checkedMessage(steps, step.seq, step.input), fileFacts)];
    }
    const turn = turns.get(step.seq);
    return turn === undefined || step.seq <= summary.through ? [] : turnMessages(turn, reading);
  };
  return [
    userMessage(checkedMessage(steps, 0, input), fileFacts),
    ...steps.filter(({ seq }) => seq <= summary.through).flatMap(messagesOf),
    ...summary.messages,
    ...steps.filter(({ seq }) => seq > summary.through).flatMap(messagesOf),
  ];
}

interface SummaryInPlace {
  /** The last step it covers; 0 if there is no summary. */
  readonly through: number;
  readonly messages: readonly ModelMessage[];
}

function summaryOf(steps: readonly Step[], { summary_seq }: LeftOut): SummaryInPlace {
  const step = steps.find(({ seq, kind }) => kind === "model" && seq === summary_seq);
  if (step?.kind !== "model" || step.output === null) return { through: 0, messages: [] };
  const through = step.input?.summarizes_through ?? 0;
  return { through, messages: [{ role: "user", text: summaryMessage(step.output.text) }] };
}

interface TurnReading {
  readonly terms: CompletionTerms;
  /** The last user message: it closed the turns before it, so their results never arrive. */
  readonly lastSeq: number;
  readonly resultsThrough: number;
  readonly label: (text: string, seq: number) => string;
  /** Files to show to the model, by step. */
  readonly shown: ReadonlyMap<number, readonly ResultFile[]>;
}

function turnMessages(turn: Turn, reading: TurnReading): readonly ModelMessage[] {
  const { terms } = reading;
  if (turn.output === null) return [];
  return [
    assistantMessage(turn.output),
    ...turn.calls.flatMap((call) => toolMessages(call, reading)),
    ...(isPlainAnswer(turn) ? returnedAnswer(turn.output.text, terms) : []),
  ];
}

function returnedAnswer(text: string, terms: CompletionTerms): readonly ModelMessage[] {
  const verdict = judgePlainAnswer(text, terms);
  return verdict.kind === "returned" ? [{ role: "user", text: verdict.message }] : [];
}

const NEVER_MADE = "The call was not made: the task ended first.";

/** A user's message and its files. The file content is read before the model call. */
function userMessage(input: JsonValue, fileFacts: ReadonlyMap<string, FileFacts>): ModelMessage {
  const text = inputText(input);
  const paths = filePathsOf(input);
  if (paths.length === 0) return { role: "user", text };
  const files = paths.map((path) => (
    { path, ...definedOnly({ facts: fileFacts.get(path) }), content: null }
  ));
  return { role: "user", text, files };
}

/** Returns the paths of all files of the user, in the task's input or in later messages. */
export function userFilePaths(input: JsonValue, steps: readonly Step[]): readonly string[] {
  const messages = steps.flatMap((step) =>
    step.kind === "user" ? [checkedMessage(steps, step.seq, step.input)] : []
  );
  const paths = [checkedMessage(steps, 0, input), ...messages].flatMap(filePathsOf);
  return [...new Set(paths)];
}

/** The database rejects any other form of `files` in user input. */
function filePathsOf(input: JsonValue): readonly string[] {
  const object = jsonObject.safeParse(input);
  const paths = object.success ? filePaths.safeParse(object.data.files) : null;
  return paths?.data ?? [];
}

const filePaths = z.array(z.string());

/** A user's input as text. */
export function inputText(input: JsonValue): string {
  return typeof input === "string" ? input : JSON.stringify(input, null, 2);
}

/**
 * A model's thoughts are sent back only in `provider_data`, and only to the provider they came
 * from.
 */
function assistantMessage(
  { finish_reason: _stop, reasoning: _thoughts, provider_tool_calls: _used, ...answer }:
    ModelAnswer,
): ModelMessage {
  return { role: "assistant", ...answer };
}

function toolMessages(
  { seq, call, step }: TurnCall,
  { lastSeq, resultsThrough, label, shown }: TurnReading,
): readonly ModelMessage[] {
  const { call_id, name } = call;
  const files = (shown.get(seq) ?? []).map(toModelFile);
  if (step === null || step.state === "started") {
    return seq < lastSeq ? [{ role: "tool", call_id, name, text: NEVER_MADE, is_error: true }] : [];
  }
  return [{
    role: "tool",
    call_id,
    name,
    text: label(
      seq <= resultsThrough
        ? resultText(step, (text) => shortenResult(text, seq))
        : resultText(step),
      seq,
    ),
    is_error: isErrorResult(step),
    ...(files.length === 0 ? {} : { files }),
  }];
}

function toModelFile({ path, media_type: mediaType, bytes }: ResultFile): ModelFile {
  return { path, facts: { mediaType, bytes }, content: null };
}

/** An old result without its middle part, which `recall_result` can read again. */
function shortenResult(text: string, seq: number): string {
  if (text.length <= MAX_WHOLE_CHARS) return text;
  const left = text.length - HEAD_CHARS - TAIL_CHARS;
  const note = `[${left} characters omitted; recall_result {"step": ${seq}} reads them again]`;
  return `${text.slice(0, HEAD_CHARS)}\n${note}\n${text.slice(-TAIL_CHARS)}`;
}
