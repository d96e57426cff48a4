import { definedOnly } from "../../platform/values/defined_only.ts";
import type { JsonValue } from "../../platform/values/json.ts";
import { jsonObject } from "../../platform/values/json_schema.ts";
import type { FileFacts } from "../../models/llm/file_tokens.ts";
import type { ModelAnswer, ModelFile, ModelMessage } from "../../models/llm/model_port.ts";
import { z } from "../../vendor/zod.js";
import { type CompletionTerms, judgePlainAnswer } from "./completion.ts";
import { cutAnswerMessage, isCut, joinCutTurns } from "./cut_turn.ts";
import { checkedMessage } from "./guardrails.ts";
import { repetitionNotices } from "./repeated_calls.ts";
import { type ResultFile, shownFiles } from "./result_files.ts";
import { isErrorResult, resultText } from "./result_text.ts";
import { retiredTurns } from "./retired_turns.ts";
import { summaryMessage } from "./summary_prompt.ts";
import type { LeftOut, Step } from "./task_context.ts";
import {
  isFollowUp,
  isPlainAnswer,
  lastMessageSeq,
  readTurns,
  type Turn,
  type TurnCall,
} from "./turns.ts";

/** What is left of a long result that is shortened. */
export const SHORT_RESULT_CHARS = 1_200;
const HEAD_SHARE = 2 / 3;
/** A result is not shortened by less than this share. */
const LEAST_SHORTENING = 0.2;

/** Options of a prompt that contains the whole transcript. */
export const NOTHING_LEFT_OUT: LeftOut = { results_through: 0, summary_seq: null };

/** How a conversation is rebuilt. */
export interface MessageOptions {
  /** Parts of the transcript to shorten or summarize. @default nothing */
  readonly leftOut?: LeftOut;
  /** What is left of a long result that is shortened. @default {@linkcode SHORT_RESULT_CHARS} */
  readonly resultChars?: number;
  /** The same for the last turn, whose files stay. @default as for the other turns */
  readonly lastTurnChars?: number;
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
 * turns are omitted, as are those after which the task failed and was retried. User messages are
 * never changed.
 */
export function buildMessages(
  input: JsonValue,
  steps: readonly Step[],
  terms: CompletionTerms,
  options: MessageOptions = {},
): readonly ModelMessage[] {
  const {
    leftOut = NOTHING_LEFT_OUT,
    resultChars = SHORT_RESULT_CHARS,
    lastTurnChars,
    label = (text) => text,
    fileFacts = new Map(),
  } = options;
  const summary = summaryOf(steps, leftOut);
  const lastSeq = lastMessageSeq(steps);
  const turns = readTurns(steps);
  const retired = retiredTurns(turns);
  const kept = new Map(
    turns.flatMap((turn, index) =>
      retired.has(turn) ? [] : [[turn.modelSeq, { turn, next: turns[index + 1] }]]
    ),
  );
  const answers = new Map(joinCutTurns(turns).map(({ modelSeq, output }) => [modelSeq, output]));
  const resultsThrough = leftOut.results_through;
  const lastTurnSeq = lastTurnChars === undefined ? Infinity : turns.at(-1)?.modelSeq ?? 0;
  const filesThrough = Math.min(resultsThrough, lastTurnSeq);
  const shown = shownFiles(steps, Math.max(filesThrough, summary.through));
  const charsLeft = (seq: number) => {
    if (seq > resultsThrough) return Infinity;
    return lastTurnChars !== undefined && seq > lastTurnSeq ? lastTurnChars : resultChars;
  };
  const notices = repetitionNotices(turns);
  const reading = { terms, answers, lastSeq, charsLeft, label, shown, notices };
  const messagesOf = (step: Step): readonly ModelMessage[] => {
    if (step.kind === "user") {
      return [userMessage(checkedMessage(steps, step.seq, step.input), fileFacts)];
    }
    const found = kept.get(step.seq);
    return found === undefined || step.seq <= summary.through
      ? []
      : turnMessages(found.turn, found.next, reading);
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
  /** The answers, each with the whole text of its parts if one before it was cut. */
  readonly answers: ReadonlyMap<number, ModelAnswer | null>;
  /** The last user message: it closed the turns before it, so their results never arrive. */
  readonly lastSeq: number;
  /** What is left of a long result, by step. */
  readonly charsLeft: (seq: number) => number;
  readonly label: (text: string, seq: number) => string;
  /** Files to show to the model, by step. */
  readonly shown: ReadonlyMap<number, readonly ResultFile[]>;
  /** Added to results, by step. */
  readonly notices: ReadonlyMap<number, string>;
}

function turnMessages(
  turn: Turn,
  next: Turn | undefined,
  reading: TurnReading,
): readonly ModelMessage[] {
  const { output } = turn;
  if (output === null) return [];
  if (isPlainAnswer(turn) && isAskedToGoOn(turn, next, reading)) {
    const reply: ModelMessage = { role: "user", text: cutAnswerMessage(turn) };
    // Some APIs refuse a message that says nothing.
    return output.text.trim() === "" ? [reply] : [assistantMessage(output), reply];
  }
  return [
    assistantMessage(output),
    ...turn.calls.flatMap((call) => toolMessages(call, turn, reading)),
    ...(isPlainAnswer(turn) ? returnedAnswer(turn, reading) : []),
  ];
}

/** Whether the turn was cut, and the next call follows it. */
function isAskedToGoOn(turn: Turn, next: Turn | undefined, { lastSeq }: TurnReading): boolean {
  return isCut(turn) && (next === undefined ? turn.modelSeq > lastSeq : isFollowUp(next));
}

function returnedAnswer(
  { modelSeq }: Turn,
  { answers, terms }: TurnReading,
): readonly ModelMessage[] {
  const verdict = judgePlainAnswer(answers.get(modelSeq)?.text ?? "", terms);
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

/** A user's input as text. Compact, because lines multiply the length of deep values. */
export function inputText(input: JsonValue): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}

/**
 * A model's thoughts are sent back only in `provider_data`, and only to the provider they came
 * from.
 */
function assistantMessage(
  {
    finish_reason: _stop,
    cut_at_tokens: _limit,
    reasoning: _thoughts,
    provider_tool_calls: _used,
    unread: _unread,
    ...answer
  }: ModelAnswer,
): ModelMessage {
  return { role: "assistant", ...answer };
}

function toolMessages(
  { seq, call, step }: TurnCall,
  { isRetried }: Turn,
  { lastSeq, charsLeft, label, shown, notices }: TurnReading,
): readonly ModelMessage[] {
  const { call_id, name } = call;
  const files = (shown.get(seq) ?? []).map(toModelFile);
  if (step === null || step.state === "started") {
    return seq < lastSeq || isRetried
      ? [{ role: "tool", call_id, name, text: NEVER_MADE, is_error: true }]
      : [];
  }
  const text = resultText(step, (whole) => shortenResult(whole, seq, charsLeft(seq)));
  const notice = notices.get(seq);
  return [{
    role: "tool",
    call_id,
    name,
    text: label(notice === undefined ? text : `${text}\n\n${notice}`, seq),
    is_error: isErrorResult(step),
    ...(files.length === 0 ? {} : { files }),
  }];
}

function toModelFile({ path, media_type: mediaType, bytes }: ResultFile): ModelFile {
  return { path, facts: { mediaType, bytes }, content: null };
}

/** An old result without its middle part, which `recall_result` can read again. */
function shortenResult(text: string, seq: number, toChars: number): string {
  if (text.length * (1 - LEAST_SHORTENING) <= toChars) return text;
  const headChars = Math.round(toChars * HEAD_SHARE);
  const note = `[${text.length - toChars} characters omitted; ` +
    `recall_result {"step": ${seq}, "offset": ${headChars}} reads them again]`;
  return `${text.slice(0, headChars)}\n${note}\n${text.slice(headChars - toChars)}`;
}
