import { canonicalJson } from "../../shared/platform/values/canonical_json.ts";
import type { JsonValue } from "../../shared/platform/values/json.ts";
import { type AssertionResult, type Finding, shown } from "./assertion_result.ts";
import { checkOutput, textOf } from "./check_output.ts";
import { checkTrajectory } from "./check_trajectory.ts";
import type { Assertion } from "./evals_file_schema.ts";
import type { JobRecord } from "./job_record.ts";
import { runJavascript } from "./run_javascript.ts";

/** What assertions need beside the record of the job. */
export interface AssertionPorts {
  /**
   * Reads the rows of a statement in a transaction that cannot write. Throws what the database says.
   */
  readSql(statement: string, params: readonly string[]): Promise<readonly JsonRow[]>;
  /** Cosine similarity of two texts. @param embedder Null: the project's default. */
  similarity(first: string, second: string, embedder: string | null): Promise<number>;
  /** An agent's judgment of an output. @param judge The slug of the agent. */
  judge(judge: string, question: JudgeQuestion): Promise<Judgment>;
}

/** A row of a result. */
export type JsonRow = Readonly<Record<string, JsonValue>>;

/** What a judging agent gets as input. */
export interface JudgeQuestion {
  readonly rubric: string;
  readonly input: JsonValue;
  readonly output: JsonValue;
}

/** What it answers. */
export interface Judgment {
  readonly pass: boolean;
  /** 0 to 1. */
  readonly score: number;
  readonly reason: string;
}

const DEFAULT_SIMILARITY = 0.75;
const MICRO_USD = 1_000_000;

/**
 * Checks one assertion of a test against what its job did.
 *
 * @param reviewIndex How many assertions of the type `review` the test has before this one.
 * @param judge The agent that judges unless the assertion names one.
 * @throws what the ports throw, except for a statement that the database refuses.
 */
export async function checkAssertion(
  assertion: Assertion,
  record: JobRecord,
  { reviewIndex, judge }: { readonly reviewIndex: number; readonly judge: string | null },
  ports: AssertionPorts,
): Promise<AssertionResult> {
  const { passed, reason, score = passed ? 1 : 0 } = await find();
  return {
    type: assertion.type,
    passed,
    score: Math.min(1, Math.max(0, score)),
    weight: assertion.weight ?? 1,
    reason: passed ? null : reason,
  };

  async function find(): Promise<Finding> {
    switch (assertion.type) {
      case "javascript":
        return await checkJavascript(assertion, record);
      case "similar":
        return await checkSimilarity(assertion, record, ports);
      case "llm-rubric":
        return await checkRubric(assertion, record, { judge, ports });
      case "cost":
        return checkCost(assertion.threshold, record);
      case "latency":
        return {
          passed: record.latencyMs <= assertion.threshold,
          reason: `the job took ${record.latencyMs} ms, more than ${assertion.threshold}`,
        };
      case "trajectory":
        return checkTrajectory(assertion, record.calls);
      case "sql":
        return await checkSql(assertion, record, ports);
      case "budget":
        return checkBudget(assertion.value, record);
      case "review":
        return checkReview(assertion.value.question, record.questions[reviewIndex]);
      default:
        return checkOutput(assertion, record.output);
    }
  }
}

type AssertionOf<Type extends Assertion["type"]> = Extract<Assertion, { type: Type }>;

async function checkJavascript(
  { value: code, threshold }: AssertionOf<"javascript">,
  { input, output, taskId, calls, usage, latencyMs }: JobRecord,
): Promise<Finding> {
  const answer = await runJavascript({
    code,
    output,
    context: {
      vars: input,
      task_id: taskId,
      calls: calls.map((call) => ({ ...call })),
      cost: usage.costMicroUsd === null ? null : usage.costMicroUsd / MICRO_USD,
      latency_ms: latencyMs,
    },
  });
  if (answer.kind === "failed") return { passed: false, reason: answer.message };
  const { value } = answer;
  if (typeof value === "boolean") return { passed: value, reason: `${code.trim()} is false` };
  if (isScore(value)) return scored(value, threshold);
  if (typeof value === "object" && value !== null && "pass" in value) {
    const { pass, score, reason } = value as Record<string, unknown>;
    return {
      passed: pass === true,
      reason: typeof reason === "string" ? reason : `${shown(value)} does not pass`,
      ...isScore(score) ? { score } : {},
    };
  }
  return { passed: false, reason: `it is ${shown(value)}, not true, false, a number or {pass}` };
}

function isScore(value: unknown): value is number {
  return typeof value === "number" && !Number.isNaN(value);
}

function scored(score: number, threshold: number | undefined): Finding {
  return {
    passed: threshold === undefined ? score > 0 : score >= threshold,
    score,
    reason: `the score ${score} is not ${threshold === undefined ? "above 0" : `${threshold}`}`,
  };
}

async function checkSimilarity(
  { value, threshold = DEFAULT_SIMILARITY, provider }: AssertionOf<"similar">,
  { output }: JobRecord,
  { similarity }: AssertionPorts,
): Promise<Finding> {
  const score = await similarity(textOf(output), value, provider ?? null);
  return {
    passed: score >= threshold,
    score,
    reason: `the similarity is ${score.toFixed(3)}, less than ${threshold}`,
  };
}

async function checkRubric(
  { value: rubric, threshold, provider }: AssertionOf<"llm-rubric">,
  { input, output }: JobRecord,
  { judge, ports }: { readonly judge: string | null; readonly ports: AssertionPorts },
): Promise<Finding> {
  const judgment = await ports.judge(provider ?? judge ?? "", { rubric, input, output });
  const isHighEnough = threshold === undefined || judgment.score >= threshold;
  return {
    passed: judgment.pass && isHighEnough,
    score: judgment.score,
    reason: isHighEnough ? judgment.reason : `${judgment.reason} (score ${judgment.score})`,
  };
}

function checkCost(threshold: number, { usage: { costMicroUsd } }: JobRecord): Finding {
  if (costMicroUsd === null) {
    return { passed: false, reason: "the cost is unknown: the model has no row in model_prices" };
  }
  const cost = costMicroUsd / MICRO_USD;
  return { passed: cost <= threshold, reason: `the job cost $${cost}, more than $${threshold}` };
}

async function checkSql(
  { value }: AssertionOf<"sql">,
  { taskId, userId }: JobRecord,
  { readSql }: AssertionPorts,
): Promise<Finding> {
  const query = typeof value === "string" ? value : value.query;
  const params: string[] = [];
  const facts: Readonly<Record<string, string>> = { task_id: taskId, user_id: userId };
  const statement = query.replaceAll(/\{\{\s*(task_id|user_id)\s*\}\}/g, (_, name: string) => {
    const fact = facts[name] ?? "";
    if (!params.includes(fact)) params.push(fact);
    return `$${params.indexOf(fact) + 1}`;
  });
  let rows: readonly JsonRow[];
  try {
    rows = await readSql(statement, params);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { passed: false, reason: `the statement failed: ${message}` };
  }
  const result = singleValue(rows);
  const expected = typeof value === "string" ? true : value.equals;
  return {
    passed: canonicalJson(result) === canonicalJson(expected),
    reason: `the result is ${shown(result)}, not ${shown(expected)}`,
  };
}

/** The only value of a result, or else its rows. */
function singleValue(rows: readonly JsonRow[]): JsonValue {
  const [row, ...others] = rows;
  const [value, ...more] = Object.values(row ?? {});
  return others.length === 0 && more.length === 0 && value !== undefined ? value : rows;
}

function checkBudget(
  caps: AssertionOf<"budget">["value"],
  { usage, latencyMs }: JobRecord,
): Finding {
  const used: Readonly<Record<keyof typeof caps, number | null>> = {
    max_input_tokens: usage.inputTokens,
    max_output_tokens: usage.outputTokens,
    max_cost_micro_usd: usage.costMicroUsd,
    max_steps: usage.stepCount,
    max_tasks: usage.taskCount,
    max_wall_seconds: latencyMs / 1_000,
  };
  const exceeded = Object.entries(caps).flatMap(([name, cap]) => {
    const use = used[name as keyof typeof caps];
    return cap === undefined || (use !== null && use <= cap)
      ? []
      : [`${name} is ${cap}, the job used ${use ?? "an unknown cost"}`];
  });
  return { passed: exceeded.length === 0, reason: exceeded.join("; ") };
}

function checkReview(expected: string | undefined, asked: string | undefined): Finding {
  if (asked === undefined) return { passed: false, reason: "no person was asked" };
  return {
    passed: expected === undefined || asked.includes(expected),
    reason: `a person was asked ${shown(asked)}; expected ${shown(expected)}`,
  };
}
