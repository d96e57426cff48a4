import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { storedValue } from "./checked_value.ts";
import { runStep } from "./run_step.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { secondsOf } from "./seconds_of.ts";
import type { Duration, Flow, FlowToolResult, ReviewAnswer } from "./workflow.ts";
import type { WorkflowRun } from "./workflow_run.ts";

/** What a flow needs from its host. */
export interface FlowHost {
  /** A URL that accepts one signal. */
  readonly signalUrl: (taskId: string, signal: string) => Promise<string>;
  /** @throws the code of the gateway's refusal, TOOL_OUTCOME_UNKNOWN if no answer arrived */
  readonly callTool: (
    taskId: string,
    call: FlowToolCall,
    signal: AbortSignal,
  ) => Promise<FlowToolResult>;
}

/** A tool call of a workflow. */
export interface FlowToolCall {
  readonly server: string;
  readonly tool: string;
  readonly parameters: JsonObject;
}

/** The flow that a run's code gets; `prefix` begins the names of its steps. */
export function createFlow(run: WorkflowRun, host: FlowHost, prefix = ""): Flow {
  const { context: { taskId }, control } = run;
  const named = (name: string) => prefix + name;
  const after = (duration: Duration) =>
    new Date(control.now().getTime() + secondsOf(duration) * 1_000).toISOString();

  async function waitForChild<T>(name: string, agent: string, input: unknown): Promise<T> {
    const key = named(name);
    const { output = null } = await run.waitFor(key, "system", () => {
      const error = { code: "STEP_INVALID", attempt: `start the subtask "${key}"` } as const;
      return { wait: "child", agent, input: storedValue(input, error) };
    });
    return output as T;
  }

  return {
    taskId,
    step: (name, code, options = {}) => runStep(run, named(name), code, options),

    async map(name, items, code, { limit = 10 } = {}) {
      const results: Awaited<ReturnType<typeof code>>[] = new Array(items.length);
      // One iterator, from which each of the workers takes its next item.
      const rest = items.entries();
      const work = async () => {
        for (const [index, item] of rest) {
          const flow = createFlow(run, host, `${named(name)}[${index}].`);
          results[index] = await code(item, flow, index);
        }
      };
      await Promise.all(Array.from({ length: Math.max(1, Math.min(limit, items.length)) }, work));
      return results;
    },

    async sleep(name, duration) {
      await run.waitFor(named(name), "step", () => ({ wait: "sleep", until: after(duration) }));
    },

    async sleepUntil(name, time) {
      await run.waitFor(named(name), "step", () => ({ wait: "sleep", until: isoOf(time) }));
    },

    agent: (agent, input, { name = agent } = {}) => waitForChild(name, agent, input),

    workflow: (workflow, input, { name = workflow.name } = {}) =>
      waitForChild(name, workflow.name, input),

    tool: (server, tool, parameters, { name = `${server}.${tool}`, ...options } = {}) =>
      runStep(
        run,
        named(name),
        ({ signal }) => host.callTool(taskId, { server, tool, parameters }, signal),
        { idempotent: false, ...options },
      ),

    async review(question, facts, { name = question.slice(0, 200), options } = {}) {
      const key = named(name);
      const answer = await run.waitFor(key, "system", () => {
        const error = { code: "STEP_INVALID", attempt: `ask "${key}"` } as const;
        return {
          wait: "review",
          question,
          context: storedValue(facts, error),
          ...options !== undefined && { options },
        };
      });
      return answer as unknown as ReviewAnswer;
    },

    async signal(signal, { timeout, name = signal } = {}) {
      const { value = null } = await run.waitFor(named(name), "step", () => ({
        wait: "signal",
        signal,
        ...timeout !== undefined && { until: after(timeout) },
      }));
      return value as never;
    },

    signalUrl: (signal, { name = `URL of ${signal}` } = {}) =>
      runStep(run, named(name), () => host.signalUrl(taskId, signal), {}),

    async race(name, waits) {
      // Its loser may fail later.
      for (const wait of waits) wait.catch(() => {});
      const first = await runStep(run, named(name), async () => {
        const settled = waits.map(async (wait, index) => {
          await wait.catch(() => {});
          return index;
        });
        return await run.atRest(() => Promise.race(settled));
      }, { attempts: 1 });
      return await (waits[first] ?? Promise.race(waits));
    },

    async patched(change) {
      const key = named(`patched ${change}`);
      if (!run.isRecorded(key) && run.isRepeating) return false;
      return await runStep(run, key, () => true, {});
    },

    log(message, facts = {}) {
      if (!run.isRepeating) control.log(message, facts);
    },
  };
}

/** @throws STEP_INVALID */
function isoOf(time: Date | string): string {
  const date = new Date(time);
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new SwarmError("STEP_INVALID", `Cannot wait: "${time}" is no time`, {
    hint: "Give a Date, or a text in ISO 8601 such as 2027-01-31T09:00:00Z.",
  });
}
