import type { JsonValue } from "../../shared/platform/values/json.ts";
import type { ScriptedAnswer, ScriptedRequest } from "../../scripts/models/scripted_agent.ts";

/** Returns the answer that completes a task. */
export function complete(output: JsonValue = "done"): ScriptedAnswer {
  return { toolCalls: [{ name: "complete_task", arguments: { output } }] };
}

/** Returns the answer that hands off `count` subtasks to an agent. */
export function delegate(agent: string, count: number): ScriptedAnswer {
  return {
    toolCalls: Array.from({ length: count }, (_, part) => ({
      name: "create_subtask",
      arguments: { agent, input: `part ${part}` },
    })),
  };
}

/** Returns the number of earlier answers of the model. */
export function turnOf({ messages }: ScriptedRequest): number {
  return messages.filter(({ role }) => role === "assistant").length;
}
