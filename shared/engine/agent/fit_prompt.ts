import { NOTHING_LEFT_OUT, SHORT_RESULT_CHARS } from "./build_messages.ts";
import { estimatePromptTokens, type MeasuredPrompt } from "./estimate_tokens.ts";
import type { LeftOut, Step } from "./task_context.ts";
import { lastMessageSeq, nextModelSeq, readTurns } from "./turns.ts";

/** Room for the answer of an agent without max_tokens, and its maximum share of the window. */
const ANSWER_TOKENS = 8_192;
const ANSWER_SHARE = 0.25;
/** The share of the window that max_tokens may take. */
const MAX_ANSWER_SHARE = 0.5;
/** Estimates are rough, and a rejected request costs another one. */
const USED_SHARE = 0.9;
/** Target share of a prompt after it was made to fit, so that several more turns fit as well. */
const TARGET_SHARE = 0.6;
/** Limits of a summary: its share of the prompt, and its maximum. */
const SUMMARY_SHARE = 0.15;
const MAX_SUMMARY_TOKENS = 4_096;
const WORDS_PER_TOKEN = 0.6;
/** The most that a prompt may take after a summary, so that not each turn needs one. */
const AFTER_SUMMARY_SHARE = 0.7;
/**
 * What may be left of each long result in a summary, and in the current turn if its results cannot
 * be complete.
 */
const RESULT_CHARS = [Infinity, 16_000, 8_000, 4_000, 2_000, SHORT_RESULT_CHARS];

/** How the next prompt is made to fit its model. */
export type Fit<P> =
  | { readonly kind: "fits"; readonly prompt: P; readonly leftOut: LeftOut }
  /** The turns up to this step are summarized first. */
  | { readonly kind: "summarize"; readonly prompt: MeasuredPrompt; readonly through: number }
  | { readonly kind: "too_large"; readonly tokens: number };

/** The part of the transcript that a summary replaces. */
export interface SummarySpan {
  /** The earlier summary that covers the turns before, if any. */
  readonly leftOut: LeftOut;
  /** The last step. */
  readonly through: number;
  /** What is left of each long result. */
  readonly resultChars: number;
  /** The most words that the summary may have. */
  readonly maxWords: number;
}

/** Parameters for fitting a prompt. */
export interface FitOptions<P extends MeasuredPrompt> {
  readonly steps: readonly Step[];
  readonly windowTokens: number;
  /** The agent's setting; null uses the provider's default. */
  readonly maxTokens: number | null;
  /** Builds the prompt without the omitted parts; `lastTurnChars` are left of the newest results. */
  readonly promptWithout: (leftOut: LeftOut, lastTurnChars?: number) => P;
  readonly summaryOf: (source: SummarySpan) => MeasuredPrompt;
}

/**
 * Makes the next prompt fit the model's window. Old results are shortened first, because that needs
 * no model call. Then the model summarizes so many old turns that several more fit. Results of the
 * current turn are shortened only as far as they would be too long even after a summary. Omitted
 * parts stay omitted, so that consecutive prompts share a prefix.
 */
export function fitPrompt<P extends MeasuredPrompt>(options: FitOptions<P>): Fit<P> {
  const { steps } = options;
  const limit = promptLimit(options);
  const current = leftOutSoFar(steps);
  const whole = promptLeaving(options, current);
  if (whole.tokens <= limit) return { kind: "fits", ...whole };

  const ends = turnEnds(steps);
  const lastEnd = ends.at(-1) ?? 0;
  // The current turn stays, unless a user message has closed it.
  const closed = (lastMessageSeq(steps) > lastEnd ? ends : ends.slice(0, -1))
    .filter(isAfter(coveredThrough(steps, current)));
  const shortened = shorten(options, current, closed, limit) ?? whole;
  if (shortened.tokens <= limit) return { kind: "fits", ...shortened };
  const summary = summaryFor(options, current, limit);
  const leftOut = { ...current, results_through: lastEnd };
  const mostSaved = summary.savedBy(closed.at(-1));
  const longest = RESULT_CHARS.values()
    .map((chars) => chars === Infinity ? shortened : promptLeaving(options, leftOut, chars))
    .find(({ tokens }) => tokens - mostSaved <= limit * AFTER_SUMMARY_SHARE) ??
    promptLeaving(options, leftOut);
  if (longest.tokens <= limit) return { kind: "fits", ...longest };
  return summarize(summary, closed, longest.tokens - limit * TARGET_SHARE) ??
    { kind: "too_large", tokens: longest.tokens };
}

interface Candidate<P> {
  readonly prompt: P;
  readonly leftOut: LeftOut;
  readonly tokens: number;
}

function promptLeaving<P extends MeasuredPrompt>(
  { promptWithout }: FitOptions<P>,
  leftOut: LeftOut,
  lastTurnChars?: number,
): Candidate<P> {
  const prompt = promptWithout(leftOut, lastTurnChars);
  return { prompt, leftOut, tokens: estimatePromptTokens(prompt) };
}

/** What the last call omitted, and the newest summary. */
function leftOutSoFar(steps: readonly Step[]): LeftOut {
  const calls = steps.flatMap((step) => step.kind === "model" ? [step] : []);
  const summary = calls.findLast(({ input, state }) =>
    input?.summarizes_through !== undefined && state === "done"
  );
  const last = calls.findLast(({ input }) => input?.left_out !== undefined)?.input?.left_out;
  return {
    results_through: last?.results_through ?? NOTHING_LEFT_OUT.results_through,
    summary_seq: summary?.seq ?? null,
  };
}

/** The last step that the newest summary covers; 0 without one. Prompts contain no turn before it. */
function coveredThrough(steps: readonly Step[], { summary_seq }: LeftOut): number {
  const summary = steps.find(({ seq }) => seq === summary_seq);
  return summary?.kind === "model" ? summary.input?.summarizes_through ?? 0 : 0;
}

const isAfter = (covered: number) => (end: number) => end > covered;

function promptLimit(
  { windowTokens, maxTokens }: Pick<FitOptions<MeasuredPrompt>, "windowTokens" | "maxTokens">,
) {
  const answer = maxTokens === null
    ? Math.min(ANSWER_TOKENS, windowTokens * ANSWER_SHARE)
    : Math.min(maxTokens, windowTokens * MAX_ANSWER_SHARE);
  return Math.floor((windowTokens - answer) * USED_SHARE);
}

/** The last steps of the finished turns, in ascending order. */
function turnEnds(steps: readonly Step[]): readonly number[] {
  return readTurns(steps).flatMap((turn) => turn.output === null ? [] : [nextModelSeq(turn) - 1]);
}

/** Shortens the results of as few turns as needed to reach the target, or of all; null without one. */
function shorten<P extends MeasuredPrompt>(
  options: FitOptions<P>,
  current: LeftOut,
  closed: readonly number[],
  limit: number,
): Candidate<P> | null {
  const candidates = closed.filter(isAfter(current.results_through));
  const attempt = (end: number) => promptLeaving(options, { ...current, results_through: end });
  const through = firstThat(candidates, (end) => attempt(end).tokens <= limit * TARGET_SHARE) ??
    candidates.at(-1);
  return through === undefined ? null : attempt(through);
}

/** A summary of the turns up to any step. */
interface Summary {
  readonly promptTo: (through: number, resultChars: number) => MeasuredPrompt;
  /** By how many tokens it would make a prompt smaller whose old results are short. */
  readonly savedBy: (through: number | undefined) => number;
  readonly fits: (prompt: MeasuredPrompt) => boolean;
}

function summaryFor<P extends MeasuredPrompt>(
  { windowTokens, summaryOf }: FitOptions<P>,
  current: LeftOut,
  limit: number,
): Summary {
  const summaryTokens = Math.min(MAX_SUMMARY_TOKENS, Math.floor(limit * SUMMARY_SHARE));
  const maxWords = Math.floor(summaryTokens * WORDS_PER_TOKEN);
  // The answer to its prompt is only the summary.
  const summaryLimit = Math.floor((windowTokens - summaryTokens) * USED_SHARE);
  const promptTo = (through: number, resultChars: number) => {
    const leftOut = { ...current, results_through: through };
    return summaryOf({ leftOut, through, resultChars, maxWords });
  };
  return {
    promptTo,
    savedBy: (through) =>
      through === undefined
        ? 0
        : estimatePromptTokens(promptTo(through, SHORT_RESULT_CHARS)) - summaryTokens,
    fits: (prompt) => estimatePromptTokens(prompt) <= summaryLimit,
  };
}

/** Summarizes as few turns as needed to save so many tokens, or all; null if there is none. */
function summarize(
  { promptTo, savedBy, fits }: Summary,
  closed: readonly number[],
  neededTokens: number,
): Extract<Fit<never>, { kind: "summarize" }> | null {
  const wanted = firstThat(closed, (end) => savedBy(end) >= neededTokens) ?? closed.at(-1);
  if (wanted === undefined) return null;
  const prompt = RESULT_CHARS.values().map((chars) => promptTo(wanted, chars)).find(fits);
  if (prompt !== undefined) return { kind: "summarize", prompt, through: wanted };
  // Not even short results fit: the next summary covers the rest.
  const through = closed.findLast((end) => end < wanted && fits(promptTo(end, SHORT_RESULT_CHARS)));
  if (through === undefined) return null;
  return { kind: "summarize", prompt: promptTo(through, SHORT_RESULT_CHARS), through };
}

/**
 * The first matching candidate; after the first match all later candidates match (binary search).
 */
function firstThat(row: readonly number[], holds: (end: number) => boolean): number | undefined {
  let [from, to] = [0, row.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const end = row[middle];
    if (end !== undefined && holds(end)) to = middle;
    else from = middle + 1;
  }
  return row[from];
}
