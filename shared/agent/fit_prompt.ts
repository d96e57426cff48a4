import { NOTHING_LEFT_OUT } from "./build_messages.ts";
import { estimateTokens, type MeasuredPrompt } from "./estimate_tokens.ts";
import type { LeftOut, Step } from "./task_context.ts";
import { lastMessageSeq, nextModelSeq, readTurns } from "./turns.ts";

/** Room for the answer of an agent without max_tokens. */
const ANSWER_TOKENS = 8_192;
/** Estimates are rough, and a provider that refuses has to be asked again. */
const USED_SHARE = 0.9;
/** How full a prompt may be after it was made to fit, so that the next turns fit as well. */
const AFTER_SUMMARY_SHARE = 0.6;
/** Fuller than this, shortened results would have to be followed by a summary soon. */
const AFTER_SHORTENING_SHARE = 0.8;
/** What a summary may take: of the prompt, and at most. */
const SUMMARY_SHARE = 0.25;
const MAX_SUMMARY_TOKENS = 4_096;
const WORDS_PER_TOKEN = 0.6;

/** What is done so that the next prompt fits its model. */
export type Fit<P> =
  | { readonly kind: "fits"; readonly prompt: P; readonly leftOut: LeftOut }
  /** The turns up to this step are summed up first. */
  | { readonly kind: "summarize"; readonly prompt: MeasuredPrompt; readonly through: number }
  | { readonly kind: "too_large"; readonly tokens: number };

/** What a summary is to stand for. */
export interface SummarySpan {
  /** What stands for the turns before: an earlier summary. */
  readonly leftOut: LeftOut;
  /** The last step. */
  readonly through: number;
  /** The most words that the summary may have. */
  readonly maxWords: number;
}

/** How a prompt is made to fit. */
export interface FitOptions<P extends MeasuredPrompt> {
  readonly steps: readonly Step[];
  /** Tokens of the model's window. */
  readonly windowTokens: number;
  /** Of the agent; null leaves it to the provider. */
  readonly maxTokens: number | null;
  /** The prompt without what is left out. */
  readonly promptWithout: (leftOut: LeftOut) => P;
  readonly summaryOf: (source: SummarySpan) => MeasuredPrompt;
}

/**
 * Makes the next prompt fit the model's window: first old results are shortened, then the model
 * sums up old turns, last the results at hand are shortened too. What was left out once stays left
 * out, so that prompts keep beginning alike.
 */
export function fitPrompt<P extends MeasuredPrompt>(options: FitOptions<P>): Fit<P> {
  const { steps, promptWithout } = options;
  const limit = promptLimit(options);
  const current = leftOutSoFar(steps);
  const prompt = promptWithout(current);
  if (estimateTokens(prompt) <= limit) return { kind: "fits", prompt, leftOut: current };

  const ends = turnEnds(steps);
  const shortened = shorten(options, current, ends.slice(0, -1), limit);
  if (shortened !== null) return shortened;
  const summary = summarize(options, current, ends, limit);
  if (summary !== null) return summary;
  const leftOut = { ...current, results_through: ends.at(-1) ?? 0 };
  const shortest = promptWithout(leftOut);
  const tokens = estimateTokens(shortest);
  return tokens <= limit
    ? { kind: "fits", prompt: shortest, leftOut }
    : { kind: "too_large", tokens };
}

/** What the last call left out, and the newest summary. */
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

function promptLimit(
  { windowTokens, maxTokens }: Pick<FitOptions<MeasuredPrompt>, "windowTokens" | "maxTokens">,
) {
  const answer = Math.min(maxTokens ?? ANSWER_TOKENS, Math.floor(windowTokens / 2));
  return Math.floor((windowTokens - answer) * USED_SHARE);
}

/** The last steps of the turns that have ended, by rising number. */
function turnEnds(steps: readonly Step[]): readonly number[] {
  return readTurns(steps).flatMap((turn) => turn.output === null ? [] : [nextModelSeq(turn) - 1]);
}

function shorten<P extends MeasuredPrompt>(
  { promptWithout }: FitOptions<P>,
  current: LeftOut,
  ends: readonly number[],
  limit: number,
): Fit<P> | null {
  const candidates = ends.filter((end) => end > current.results_through);
  const attempt = (through: number) => {
    const leftOut = { ...current, results_through: through };
    const prompt = promptWithout(leftOut);
    return { prompt, leftOut, tokens: estimateTokens(prompt) };
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
  { steps, promptWithout, summaryOf }: FitOptions<P>,
  current: LeftOut,
  ends: readonly number[],
  limit: number,
): Fit<P> | null {
  const last = steps.find(({ seq }) => seq === current.summary_seq);
  const covered = last?.kind === "model" ? last.input?.summarizes_through ?? 0 : 0;
  // The turn at hand stays, unless a message of the user has closed it.
  const closed = lastMessageSeq(steps) > (ends.at(-1) ?? 0) ? ends : ends.slice(0, -1);
  const candidates = closed.filter((end) => end > covered);
  const summaryTokens = Math.min(MAX_SUMMARY_TOKENS, Math.floor(limit * SUMMARY_SHARE));
  const maxWords = Math.floor(summaryTokens * WORDS_PER_TOKEN);
  const whole = estimateTokens(promptWithout(current));
  // The span as the prompt holds it now, with the results that are shortened there.
  const spanOf = (through: number) =>
    estimateTokens(summaryOf({ leftOut: current, through, maxWords }));
  const wanted = firstThat(
    candidates,
    (end) => whole - spanOf(end) + summaryTokens <= limit * AFTER_SUMMARY_SHARE,
  ) ?? candidates.at(-1);
  if (wanted === undefined) return null;
  // A summary reads whole results, of as many turns as fit: what is left over is summed up next.
  for (const results_through of [0, wanted]) {
    const leftOut = { ...current, results_through };
    const promptTo = (through: number) => summaryOf({ leftOut, through, maxWords });
    const through = candidates.findLast((end) =>
      end <= wanted && estimateTokens(promptTo(end)) <= limit
    );
    if (through !== undefined) return { kind: "summarize", prompt: promptTo(through), through };
  }
  return null;
}

/** The first candidate of a row in which, once one holds, all later ones do. */
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
