import { call, callStep, modelDone, stateOf, summaryDone } from "./agent_states.ts";
import { decide } from "./decide.ts";
import { estimatePromptTokens } from "./estimate_tokens.ts";
import type { Step } from "./task_context.ts";

/** A job for tests and benchmarks, whose agent only reads. */
export interface ReadingJob {
  readonly windowTokens: number;
  readonly turns: number;
  readonly callsInTurn: number;
  /** The length of each result. */
  readonly resultChars: number;
  /** The length of each summary, as far as the agent may write so much. */
  readonly summaryWords: number;
}

/** What the prompts of a job cost. */
export interface ReadingCost {
  readonly summaries: number;
  /** Of all prompts, summaries included. */
  readonly promptTokens: number;
}

/** Plays a job to the end of its turns, and counts the summaries that the agent asks for. */
export function playReadingJob(job: ReadingJob): ReadingCost {
  const { windowTokens, turns, callsInTurn, resultChars, summaryWords } = job;
  const output = { text: "word ".repeat(resultChars / 5), execution_id: "e1" };
  let steps: Step[] = [];
  let [summaries, turn, promptTokens] = [0, 0, 0];
  while (turn < turns) {
    const decision = decide(stateOf({ steps, windowTokens, input: "Read all pages" }));
    if (decision.kind !== "summarize" && decision.kind !== "call_model") {
      throw new Error(`Cannot play the job: the agent wants to ${JSON.stringify(decision)}`);
    }
    const { seq, prompt } = decision;
    promptTokens += estimatePromptTokens(prompt);
    if (decision.kind === "summarize") {
      summaries++;
      const mostWords = Number(/at most (\d+) words/.exec(prompt.messages[0]?.text ?? "")?.[1]);
      const summary = "fact ".repeat(Math.min(summaryWords, mostWords));
      steps = [...steps, summaryDone(seq, decision.through, summary)];
      continue;
    }
    const calls = Array.from(
      { length: callsInTurn },
      (_, index) => call("read", { page: turn * callsInTurn + index }),
    );
    steps = [
      ...steps,
      { ...modelDone(seq, calls, "I read on."), input: { left_out: decision.leftOut } },
      ...calls.map((_, index) => callStep(seq + 1 + index, "read", { output })),
    ];
    turn++;
  }
  return { summaries, promptTokens };
}
