import assert from "node:assert/strict";
import type { DemoUser } from "../../../scripts/demo/user_client.ts";
import { created, sendRequest, userHeaders } from "../create_task_endpoint.ts";
import { addAgent, grantToEveryone, type ToolGrant } from "../operator.ts";
import type { Platform } from "../platform.ts";
import { scriptTurns, type Turn } from "../script.ts";
import {
  type ExecutionView,
  readExecutions,
  readSteps,
  type StepView,
  type TaskView,
  untilTask,
} from "../task_view.ts";

/** Where and for whom the jobs of the tool tests run. */
export interface ToolStage {
  readonly platform: Platform;
  readonly user: DemoUser;
  readonly userId: string;
  /** Secrets in Vault; each test adds its own. No output may contain them. */
  readonly secrets: string[];
}

/** A job of one agent with tools. */
export interface ToolJob {
  readonly tools: readonly ToolGrant[];
  readonly turns: readonly [Turn, ...Turn[]];
  /** Whether everyone is granted the scopes of the tools. @default true */
  readonly isGranted?: boolean;
  /** The owner of the task. @default "user" */
  readonly as?: "user" | "service";
}

/** The result of a job. */
export interface ToolJobEnd {
  readonly task: TaskView;
  /** The steps of registry tools. */
  readonly calls: readonly StepView[];
  readonly executions: readonly ExecutionView[];
}

/** Runs a job over HTTP until it has completed. */
export async function runJob(stage: ToolStage, job: ToolJob): Promise<ToolJobEnd> {
  const taskId = await startJob(stage, job);
  return await endOf(stage, await untilTask(stage.platform.sql, taskId, "completed"));
}

/**
 * Runs a job whose call loses its answer: a person is asked and rejects, and the job completes.
 *
 * @param effectCount The number of effects of the call so far.
 */
export async function runLostWrite(
  stage: ToolStage,
  job: ToolJob,
  effectCount: () => number | Promise<number>,
): Promise<void> {
  const { platform: { sql }, user } = stage;
  const taskId = await startJob(stage, job);
  await untilTask(sql, taskId, "needs_human_review");
  const [review] = await sql<{ question: string; kind: string }[]>`
    select question, kind from public.human_reviews
    where task_id = ${taskId}::uuid`;
  assert.match(review?.question ?? "", /outcome is unknown/);
  assert.equal(review?.kind, "rerun");
  const { error } = await user.client.rpc("respond_to_review", {
    p_task_id: taskId,
    p_approved: false,
    p_response: {},
    p_comments: "Leave it.",
  });
  assert.equal(error, null);
  const { task, calls, executions } = await endOf(stage, await untilTask(sql, taskId, "completed"));

  assert.match(String(task.output), /outcome is unknown.*Leave it\./s);
  assert.deepEqual(calls.map(({ state }) => state), ["failed"]);
  assert.equal(calls[0]?.output.error_code, "TOOL_OUTCOME_UNKNOWN");
  assert.deepEqual(executions.map((entry) => entry.error_code), ["TOOL_OUTCOME_UNKNOWN"]);
  assert.equal(await effectCount(), 1);
}

async function startJob(
  { platform, user }: ToolStage,
  { tools, turns, as = "user", isGranted = true }: ToolJob,
): Promise<string> {
  const { stack, sql, project } = platform;
  const slug = `agent-${crypto.randomUUID().slice(0, 8)}`;
  await addAgent(sql, { slug, tools });
  if (isGranted) await grantToEveryone(sql, tools.map(({ id }) => id));
  stack.models.addAgent(scriptTurns(slug, ...turns));
  const headers = as === "user" ? userHeaders(project, user) : { apikey: stack.secretKey };
  return created(
    await sendRequest(project, { body: { agent: slug, input: "Use your tools" }, headers }),
  )
    .task_id;
}

async function endOf({ platform: { sql } }: ToolStage, task: TaskView): Promise<ToolJobEnd> {
  const steps = await readSteps(sql, task.id);
  return {
    task,
    calls: steps.filter(({ kind }) => kind === "tool"),
    executions: await readExecutions(sql, task.id),
  };
}

/** A value that is easy to find in any output. */
export function canary({ secrets }: ToolStage, name: string): string {
  const secret = `c4n4ry-${name}-${crypto.randomUUID()}`;
  secrets.push(secret);
  return secret;
}
