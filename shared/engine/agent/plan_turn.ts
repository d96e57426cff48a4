import type { AgentState } from "./agent_state.ts";
import { planSystemCall } from "./plan_system_call.ts";
import { planToolCall } from "./plan_tool_call.ts";
import type { PlannedCall } from "./planned_call.ts";
import { isSystemTool } from "./system_tools.ts";
import type { Turn } from "./turns.ts";

/** Plans each unfinished call of a turn, in call order. */
export function planTurn(turn: Turn, state: AgentState): readonly PlannedCall[] {
  return turn.calls
    .filter(({ step }) => step === null || step.state === "started")
    .map((entry) =>
      isSystemTool(entry.call.name)
        ? planSystemCall({ name: entry.call.name, entry, turn, state })
        : planToolCall({ entry, turn, state })
    );
}
