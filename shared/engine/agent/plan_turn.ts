import type { AgentState } from "./agent_state.ts";
import { planSystemCall } from "./plan_system_call.ts";
import { planToolCall } from "./plan_tool_call.ts";
import type { PlannedCall } from "./planned_call.ts";
import { isSystemTool } from "./system_tools.ts";
import type { Turn } from "./turns.ts";

/** Plans each unfinished call of the last turn of a run, in call order. */
export function planTurn(run: readonly Turn[], state: AgentState): readonly PlannedCall[] {
  const turn = run.at(-1);
  if (turn === undefined) return [];
  const before = turn.isRetried ? [] : run.slice(0, -1);
  return turn.calls
    .filter(({ step }) => step === null || step.state === "started")
    .map((entry) =>
      isSystemTool(entry.call.name)
        ? planSystemCall({ name: entry.call.name, entry, turn, before, state })
        : planToolCall({ entry, turn, before, state })
    );
}
