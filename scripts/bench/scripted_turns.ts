import type { JsonValue } from "../../shared/json.ts";
import type { ScriptedAnswer, ScriptedRequest } from "../models/scripted_agent.ts";

/** The answer that ends a task. */
export function complete(output: JsonValue = "done"): ScriptedAnswer {
  return { toolCalls: [{ name: "complete_task", arguments: { output } }] };
}

/** The answer that hands that many parts to an agent. */
export function delegate(agent: string, count: number): ScriptedAnswer {
  return {
    toolCalls: Array.from({ length: count }, (_, part) => ({
      name: "create_subtask",
      arguments: { agent, input: `part ${part}` },
    })),
  };
}

/** How many answers the model has given before. */
export function turnOf({ messages }: ScriptedRequest): number {
  return messages.filter(({ role }) => role === "assistant").length;
}
