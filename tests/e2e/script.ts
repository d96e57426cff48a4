import {
  type ScriptedAgent,
  type ScriptedAnswer,
  type ScriptedRequest,
  scriptModel,
} from "../../scripts/models/scripted_agent.ts";
import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";

/** One turn of a script: an answer, or a function that computes it from the conversation. */
export type Turn =
  | ScriptedAnswer
  | ((request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** A model that answers each request with the next turn; the last turn repeats. */
export function scriptTurns(model: string, ...turns: readonly [Turn, ...Turn[]]): ScriptedAgent {
  return scriptModel(model, async (request) => {
    const due = turns[Math.min(turnNumber(request), turns.length - 1)] ?? turns[0];
    return typeof due === "function" ? await due(request) : due;
  });
}

/** The number of answers in the conversation so far. */
export function turnNumber({ messages }: ScriptedRequest): number {
  return messages.filter(({ role }) => role === "assistant").length;
}

/** A turn that calls one tool. */
export function call(name: string, args: JsonObject = {}): ScriptedAnswer {
  return { toolCalls: [{ name, arguments: args }] };
}

/** A turn that ends the task. */
export function complete(output: JsonValue): ScriptedAnswer {
  return call("complete_task", { output });
}

/** Ends the task with the newest tool results, as the model reads them. */
export function completeWithResults(request: ScriptedRequest): ScriptedAnswer {
  return complete(newestResults(request));
}

/** The texts of the tool results since the model's last answer. */
export function newestResults({ messages }: ScriptedRequest): string[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.slice(last + 1).flatMap((message) =>
    message.role === "tool" ? [message.text] : []
  );
}
