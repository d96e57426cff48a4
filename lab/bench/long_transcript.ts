import { stateOf, toolNamed } from "../../shared/engine/agent/agent_states.ts";
import { decide } from "../../shared/engine/agent/decide.ts";
import type { StepIntent } from "../../shared/engine/agent/planned_call.ts";
import { type Step, taskContext } from "../../shared/engine/agent/task_context.ts";
import { modelInputOf } from "../../shared/engine/worker/run_model_call.ts";
import type { StepRecord } from "../../shared/engine/worker/task_store.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { RESULT_BYTES } from "./recorded_turns.ts";

const TOOL = toolNamed("look", { server: "desk", isReadOnly: true });
const ANSWER = {
  text: "",
  tool_calls: [{ call_id: "call_1", name: TOOL.modelName, arguments: {} }],
  finish_reason: "tool_calls",
};
const SUMMARY = { text: "A fact [step 12]. ".repeat(500), tool_calls: [], finish_reason: "stop" };

/** A result that is stored about as compressed as text. */
function resultOf(seq: number): JsonObject {
  const numbers = Array.from(
    { length: RESULT_BYTES / 2 },
    (_, index) => (seq * 7919 + index * 104_729) % 99_991,
  );
  return { text: numbers.join(" ").slice(0, RESULT_BYTES), is_error: false, execution_id: "e" };
}

/**
 * The steps of a task that calls a tool in each turn, with the summaries that the agent asks for
 * when its prompts become too long for a window of 128,000 tokens.
 */
export function longTranscript(stepCount: number, usage: JsonObject): readonly StepRecord[] {
  const steps: Step[] = [];
  const records: StepRecord[] = [];
  const end = (intent: StepIntent, output: JsonObject, parts: Partial<StepRecord> = {}) => {
    const record = { ...intent, state: "done" as const, output, ...parts };
    records.push(record);
    steps.push(taskContext.shape.steps.element.parse(record));
  };
  const model = (seq: number, input: JsonObject | null): StepIntent => (
    { seq, kind: "model", name: "bench", call_id: null, input }
  );
  while (records.length < stepCount) {
    const decision = decide(stateOf({ steps, tools: [TOOL] }));
    switch (decision.kind) {
      case "call_model":
        end(model(decision.seq, modelInputOf(decision)), ANSWER, { usage });
        break;
      case "summarize":
        end(model(decision.seq, { summarizes_through: decision.through }), SUMMARY, { usage });
        break;
      case "run_calls":
        for (const { intent } of decision.calls) end(intent, resultOf(intent.seq));
        break;
      default:
        throw new Error(`Cannot make a long transcript: the agent wants to ${decision.kind}`);
    }
  }
  return records;
}
