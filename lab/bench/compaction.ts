import { playReadingJob } from "../../shared/engine/agent/reading_job.ts";
import { type BenchResult, judge } from "./bench_result.ts";

const TURNS = 16;
const RESULT_CHARS = [1_400, 12_000, 40_000];
/** Windows with the most summaries that a job of 16 turns may ask for. */
const WINDOWS = [
  { tokens: 8_000, mostSummaries: 3 },
  { tokens: 16_000, mostSummaries: 2 },
  { tokens: 32_000, mostSummaries: 0 },
];

/**
 * Compaction: how often a job of 16 turns summarizes its transcript, and how many tokens its
 * prompts have together, in small windows and with results of different lengths. Computes the
 * decisions only, so it needs no database.
 */
export function benchCompaction(): Promise<BenchResult> {
  const figures: Record<string, number> = {};
  const targets: Record<string, { readonly max: number }> = {};
  for (const { tokens, mostSummaries } of WINDOWS) {
    for (const resultChars of RESULT_CHARS) {
      const { summaries, promptTokens } = playReadingJob({
        windowTokens: tokens,
        turns: TURNS,
        callsInTurn: 1,
        resultChars,
        summaryWords: 1_000,
      });
      const name = `at_${tokens}_with_${resultChars}_chars`;
      figures[`summaries_${name}`] = summaries;
      figures[`prompt_tokens_${name}`] = promptTokens;
      targets[`summaries_${name}`] = { max: mostSummaries };
    }
  }
  return Promise.resolve(judge("compaction", figures, targets, {
    notes: [
      `Each job makes ${TURNS} model calls, each with a tool call whose result has so many characters, in a window of so many tokens. Summaries are as long as the agent allows.`,
    ],
  }));
}
