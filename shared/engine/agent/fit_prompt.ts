import { NOTHING_LEFT_OUT } from "./build_messages.ts";
import { estimatePromptTokens, type MeasuredPrompt } from "./estimate_tokens.ts";
import type { LeftOut, Step } from "./task_context.ts";
import { lastMessageSeq, nextModelSeq, readTurns } from "./turns.ts";

/** Room for the answer of an agent without max_tokens. */
const ANSWER_TOKENS = 8_192;
/** Estimates are rough, and a rejected request costs another one. */
const USED_SHARE = 0.9;
/**
 * Target share of the window after a prompt was made to fit, so that the next turns fit as well.
 */
const AFTER_SUMMARY_SHARE = 0.6;
/** Above this share, shortening results would only delay a summary by a few turns. */
const AFTER_SHORTENING_SHARE = 0.8;
/** Limits of a summary: its share of the prompt, and its maximum. */
const SUMMARY_SHARE = 0.25;
const MAX_SUMMARY_TOKENS = 4_096;
const WORDS_PER_TOKEN = 0.6;

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
  /** The most words that the summary may have. */
  readonly maxWords: number;
}

/** Parameters for fitting a prompt. */
export interface FitOptions<P extends MeasuredPrompt> {
  readonly steps: readonly Step[];
  readonly windowTokens: number;
  /** The agent's setting; null uses the provider's default. */
  readonly maxTokens: number | null;
  /** Builds the prompt without the omitted parts. */
  readonly promptWithout: (leftOut: LeftOut) => P;
  readonly summaryOf: (source: SummarySpan) => MeasuredPrompt;
}

/**
 * Makes the next prompt fit the model's window: first old results are shortened, then the model
 * summarizes old turns, and finally current results are shortened too. Omitted parts stay omitted,
 * so that consecutive prompts share a prefix.
 */
export function fitPrompt<P extends MeasuredPrompt>(options: FitOptions<P>): Fit<P> {
  const { steps, promptWithout } = options;
  const limit = promptLimit(options);
  const current = leftOutSoFar(steps);
  const prompt = promptWithout(current);
  if (estimatePromptTokens(prompt) <= limit) return { kind: "fits", prompt, leftOut: current };

  const ends = turnEnds(steps);
  const covered = coveredThrough(steps, current);
  const shortened = shorten(options, current, ends.slice(0, -1).filter(isAfter(covered)), limit);
  if (shortened !== null) return shortened;
  // The current turn stays, unless a user message has closed it.
  const closed = lastMessageSeq(steps) > (ends.at(-1) ?? 0) ? ends : ends.slice(0, -1);
  const summary = summarize(options, current, closed.filter(isAfter(covered)), limit);
  if (summary !== null) return summary;
  const leftOut = { ...current, results_through: ends.at(-1) ?? 0 };
  const shortest = promptWithout(leftOut);
  const tokens = estimatePromptTokens(shortest);
  return tokens <= limit
    ? { kind: "fits", prompt: shortest, leftOut }
    : { kind: "too_large", tokens };
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
  const answer = Math.min(maxTokens ?? ANSWER_TOKENS, Math.floor(windowTokens / 2));
  return Math.floor((windowTokens - answer) * USED_SHARE);
}

/** The last steps of the finished turns, in ascending order. */
function turnEnds(steps: readonly Step[]): readonly number[] {
  return readTurns(steps).flatMap((turn) => turn.output === null ? [] : [nextModelSeq(turn) - 1]);
}

function shorten<P extends MeasuredPrompt>(
  { promptWithout }: FitOptions<P>,
  current: LeftOut,
  ends: readonly number[],
  limit: number,
): Fit<P> | null {
  const candidates = ends.filter(isAfter(current.results_through));
  const attempt = (through: number) => {
    const leftOut = { ...current, results_through: through };
    const prompt = promptWithout(leftOut);
    return { prompt, leftOut, tokens: estimatePromptTokens(prompt) };
  };
  const through = firstThat(
    candidates,
    (end) => attempt(end).tokens <= limit * AFTER_SUMMARY_SHARE,
  ) ?? candidates.at(-1);
  if (through === undefined) return null;
  const { prompt, leftOut, tokens } = attempt(through);
  return tokens <= limit * AFTER_SHORTENING_SHARE ? { kind: "fits", prompt, leftOut } : null;
}

function summarize<P extends MeasuredPrompt>(
  { promptWithout, summaryOf }: FitOptions<P>,
  current: LeftOut,
  candidates: readonly number[],
  limit: number,
): Fit<P> | null {
  const summaryTokens = Math.min(MAX_SUMMARY_TOKENS, Math.floor(limit * SUMMARY_SHARE));
  const maxWords = Math.floor(summaryTokens * WORDS_PER_TOKEN);
  const whole = estimatePromptTokens(promptWithout(current));
  // The span as the prompt contains it now, including its shortened results.
  const spanOf = (through: number) =>
    estimatePromptTokens(summaryOf({ leftOut: current, through, maxWords }));
  const wanted = firstThat(
    candidates,
    (end) => whole - spanOf(end) + summaryTokens <= limit * AFTER_SUMMARY_SHARE,
  ) ?? candidates.at(-1);
  if (wanted === undefined) return null;
  // A summary reads full results of as many turns as fit; the next summary covers the rest.
  for (const results_through of [0, wanted]) {
    const leftOut = { ...current, results_through };
    const promptTo = (through: number) => summaryOf({ leftOut, through, maxWords });
    const through = candidates.findLast((end) =>
      end <= wanted && estimatePromptTokens(promptTo(end)) <= limit
    );
    if (through !== undefined) return { kind: "summarize", prompt: promptTo(through), through };
  }
  return null;
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
