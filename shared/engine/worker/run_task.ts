import type { z } from "../../vendor/zod.js";
import type { AgentState } from "../agent/agent_state.ts";
import { userFilePaths } from "../agent/build_messages.ts";
import { decide, type Decision } from "../agent/decide.ts";
import { estimatePromptTokens } from "../agent/estimate_tokens.ts";
import { TOOL_SEARCH_BYTES } from "../agent/offer_tools.ts";
import type { StepIntent } from "../agent/planned_call.ts";
import { type TaskContext, taskContext } from "../agent/task_context.ts";
import { describeIssues } from "../../platform/values/describe_issues.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { openRun } from "../trace/open_run.ts";
import { untraced } from "../trace/task_trace.ts";
import { askPerson } from "./ask_person.ts";
import { misfitOfInput } from "./check_input.ts";
import { DeltaPace } from "./delta_pace.ts";
import { finishTask } from "./finish_task.ts";
import { parkForSubtasks, spawnSubtasks } from "./hand_off.ts";
import { runChecks } from "./run_checks.ts";
import { runCalls } from "./run_calls.ts";
import { modelIntent, runModelCall, runSummary } from "./run_model_call.ts";
import { type FailedRun, failTask, settleFailure } from "./settle_failure.ts";
import { StopReason } from "../work/stop_reason.ts";
import type { TaskEnd } from "./task_end.ts";
import type { TaskPorts } from "./task_ports.ts";
import { callerOf, type TaskRun } from "./task_run.ts";
import type { ClaimedTask } from "./task_store.ts";
import { Transcript } from "./transcript.ts";
import type { WorkControl } from "../work/work_kind.ts";

/**
 * Runs a claimed task until it ends, parks, or must be returned: asks the pure core for the next
 * action, executes it, and records the result.
 *
 * Never throws: any failure becomes the task's error, a retry, or an expired lease.
 */
export async function runTask(
  { context: rawContext, watchedSeconds = 0, taskId, epoch }: ClaimedTask,
  ports: TaskPorts,
  control: WorkControl,
): Promise<TaskEnd> {
  const lease = { taskId, epoch };
  const parsed = taskContext.safeParse(rawContext);
  const steps = parsed.success ? parsed.data.steps : [];
  const { watch } = control;
  watch.note(watchedSeconds);
  const transcript = new Transcript(ports.store, lease, steps, watch);
  const trace = parsed.success
    ? openRun(ports.telemetry, parsed.data, lease.epoch)
    : untraced({ traceparent: null, tracestate: null });
  const base: FailedRun = {
    lease,
    transcript,
    asked: new Map(),
    underWay: { modelCall: null },
    trace,
    ports,
    control,
    watch,
    deltaPace: new DeltaPace(ports.clock),
  };
  const end = await runToEnd(parsed, base);
  await transcript.otherWrites();
  await trace.end(end);
  return end;
}

async function runToEnd(
  parsed: z.ZodSafeParseResult<TaskContext>,
  base: FailedRun,
): Promise<TaskEnd> {
  try {
    if (!parsed.success) throw unreadable(describeIssues(parsed.error));
    return await advance({ ...base, context: parsed.data });
  } catch (error) {
    return await settleFailure(error, base);
  }
}

async function advance(run: TaskRun): Promise<TaskEnd> {
  const misfit = misfitOfInput(run.context);
  if (misfit !== null) return await failTask(misfit, run);
  const { toolset, fileFacts } = await openTask(run);
  const { toolSearchBytes = TOOL_SEARCH_BYTES } = run.ports;
  const spawned = new Set<number>();
  let { context } = run;
  while (true) {
    const { steps, untried } = run.transcript;
    const { asked } = run;
    const decision = decide({
      context,
      steps,
      toolset,
      toolSearchBytes,
      fileFacts,
      untried,
      asked,
      spawned,
    });
    if (isNewStep(decision)) {
      run.control.paused.throwIfAborted();
      if (run.control.isClosing()) throw new StopReason("yield");
    }
    try {
      const end = await carryOut(decision, run, spawned);
      if (end !== null) return end;
      run.control.progress();
    } catch (error) {
      context = { ...context, window_tokens: smallerWindow(error, decision, context) };
    }
  }
}

/**
 * A smaller window for a model that rejected a prompt as too long: a share of the assumed one. The
 * next decision omits more, or fails the task.
 *
 * @throws any other error.
 */
function smallerWindow(error: unknown, decision: Decision, context: TaskContext): number {
  const isPrompt = decision.kind === "call_model" || decision.kind === "summarize";
  const isTooLong = error instanceof SwarmError && error.code === "MODEL_CONTEXT_EXCEEDED";
  if (!isPrompt || !isTooLong) throw error;
  const sentTokens = estimatePromptTokens(decision.prompt);
  return Math.max(1, Math.floor(Math.min(context.window_tokens, sentTokens * 2) * 0.75));
}

/** Writes the first step while tools and files are looked up in parallel. */
async function openTask(run: TaskRun): Promise<Pick<AgentState, "toolset" | "fileFacts">> {
  const firstIntents: StepIntent[] = run.transcript.steps.length === 0 ? [modelIntent(1, run)] : [];
  // A list of tools that others wait for costs much CPU.
  const signal = AbortSignal.any([run.control.signal, run.control.closing]);
  const [toolset, fileFacts] = await Promise.all([
    run.ports.gateway.listAgentTools(callerOf(run.context), signal),
    factsOfFiles(run),
    run.transcript.begin(firstIntents),
  ]);
  return { toolset, fileFacts };
}

/** Looks up the files that the task's user names, so that prompts are measured with them. */
async function factsOfFiles(
  { context: { task }, transcript, ports }: TaskRun,
): Promise<AgentState["fileFacts"]> {
  const paths = userFilePaths(task.input, transcript.steps);
  if (paths.length === 0) return new Map();
  const described = await ports.describeFiles(paths, task.created_by);
  return new Map(described.map(({ path, ...facts }) => [path, facts]));
}

/** Decisions that take long or have an effect outside the database. */
function isNewStep({ kind }: Decision): boolean {
  return kind === "check" || kind === "call_model" || kind === "summarize" ||
    kind === "run_calls" || kind === "spawn";
}

async function carryOut(
  decision: Decision,
  run: TaskRun,
  spawned: Set<number>,
): Promise<TaskEnd | null> {
  switch (decision.kind) {
    case "call_model":
      await runModelCall(decision, run);
      return null;
    case "summarize":
      await runSummary(decision, run);
      return null;
    case "check":
      await run.transcript.begin(decision.checks.map(({ intent }) => intent));
      for (const verdict of await runChecks(decision.checks, run)) run.transcript.end(verdict);
      return null;
    case "run_calls":
      await runCalls(decision.calls, run);
      return null;
    case "spawn":
      for (const seq of await spawnSubtasks(decision.calls, run)) spawned.add(seq);
      return null;
    case "review":
      return await askPerson(decision.call, run);
    case "park":
      return await parkForSubtasks(decision.awaited, run);
    case "finish":
      return await finishTask(decision, run);
    case "fail":
      return await failTask(decision.error, run);
  }
}

function unreadable(issues: readonly string[]): SwarmError {
  return new SwarmError(
    "STEP_CONFLICT",
    "Cannot continue the task: its transcript is malformed",
    {
      hint: "Create the task again; the steps show what it has done.",
      details: { issues: issues.slice(0, 10) },
    },
  );
}
