import type { AgentToolset, UnavailableTool } from "../../gateway/tool_contracts/agent_tool.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import { fenceData } from "../../gateway/tool_contracts/fence_data.ts";
import { rejectedResult, type StepResult } from "./step_result.ts";
import { SYSTEM_TOOL_ARGUMENTS } from "./system_tools.ts";
import type { ModelToolCall } from "../../models/llm/model_port.ts";

/** The result of a call whose arguments are not a JSON object, exceed its limits or hold U+0000. */
export function malformedArgumentsResult(call: ModelToolCall): StepResult {
  const { malformed = "", malformed_reason: reason } = call;
  if (reason !== undefined) {
    return rejectedResult(
      "TOOL_ARGUMENTS_INVALID",
      `Cannot use the arguments of ${call.name}: ${reason}`,
    );
  }
  const start = malformed.slice(0, 200);
  return rejectedResult(
    "TOOL_ARGUMENTS_INVALID",
    `The arguments of ${call.name} are not a JSON object; they begin with: ${start}\n` +
      "Call the tool again with one complete JSON object.",
  );
}

/** The result of a system tool call whose arguments do not match the schema. */
export function unfitArgumentsResult(name: string, issues: readonly string[]): StepResult {
  return rejectedResult(
    "TOOL_ARGUMENTS_INVALID",
    `The arguments of ${name} do not fit: ${issues.join("; ")}.\n` +
      "Call the tool again with arguments that fit its schema.",
  );
}

/** The result of a call to a tool that does not exist or is not available. */
export function unknownToolResult(name: string, toolset: AgentToolset): StepResult {
  const absent = toolset.unavailable.find(({ server }) => isToolOf(server, name));
  if (absent !== undefined) return unavailableToolResult(absent);
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

/** Relies on how model names are built. */
function isToolOf(server: string, modelName: string): boolean {
  return modelName.replace(/^_/, "").startsWith(`${server}__`);
}

/** The reason may quote the server, so it is fenced for the model. */
function unavailableToolResult({ server, code, message }: UnavailableTool): StepResult {
  const text = `The tools of "${server}" are not available now. Work without them.\n`;
  return rejectedResult(code, `${text}${message}`, { advice: text + fenceData(message, server) });
}
