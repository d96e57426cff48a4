import type { AgentToolset } from "../tools/tool_port.ts";
import { nearestNames } from "../nearest_names.ts";
import { rejectedResult, type StepResult } from "./step_result.ts";
import { SYSTEM_TOOL_ARGUMENTS } from "./system_tools.ts";
import type { StoredToolCall } from "./task_context.ts";

/** What the model reads when the arguments of its call were no JSON object. */
export function malformedArgumentsResult(call: StoredToolCall): StepResult {
  const start = (call.malformed ?? "").slice(0, 200);
  return rejectedResult(
    "TOOL_ARGUMENTS_INVALID",
    `The arguments of ${call.name} are not a JSON object; they begin with: ${start}\n` +
      "Call the tool again with one complete JSON object.",
  );
}

/** What the model reads when the arguments of a system tool do not fit. */
export function unfitArgumentsResult(name: string, issues: readonly string[]): StepResult {
  return rejectedResult(
    "TOOL_ARGUMENTS_INVALID",
    `The arguments of ${name} do not fit: ${issues.join("; ")}.\n` +
      "Call the tool again with arguments that fit its schema.",
  );
}

/** What the model reads when it calls a tool that it does not have. */
export function unknownToolResult(name: string, toolset: AgentToolset): StepResult {
  const known = [
    ...toolset.tools.map(({ modelName }) => modelName),
    ...Object.keys(SYSTEM_TOOL_ARGUMENTS),
  ];
  const nearest = nearestNames(name, known);
  return rejectedResult(
    "TOOL_NOT_FOUND",
    `You have no tool named "${name.slice(0, 100)}". ` +
      (nearest.length > 0
        ? `Did you mean ${nearest.join(" or ")}?`
        : `You have: ${known.slice(0, 50).join(", ")}.`),
  );
}
