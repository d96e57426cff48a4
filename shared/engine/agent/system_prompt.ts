import type { UnavailableTool } from "../../gateway/tool_contracts/agent_tool.ts";
import type { CompletionTerms } from "./completion.ts";
import { FENCE_RULE } from "../../gateway/tool_contracts/fence_data.ts";
import type { Agent, TaskContext } from "./task_context.ts";

const RULES = [
  "Work by calling tools. Calls of one turn run in parallel.",
  "When a call fails, read the error and correct the call; after repeated failures try another " +
  "way or ask a person with request_human_review.",
  FENCE_RULE,
];

/** The instruction that says how the model ends a task of this agent. */
function completionRule({ outputSchema, mustComplete }: CompletionTerms): string {
  if (mustComplete) {
    return "When everything is done, call complete_task once, alone, with the whole result.";
  }
  return outputSchema === null
    ? "When everything is done, answer with the whole result as text, without a tool call. Call " +
      "complete_task instead, once and alone, when the result is not text."
    : "When everything is done, call complete_task once, alone, with the whole result. An answer " +
      "without a tool call has to be the result itself, as JSON that fits the output schema.";
}

/**
 * The system prompt: the agent's own, then the rules, its skills and the agents it may hand work
 * to.
 */
export function systemPrompt(
  agent: Agent,
  context: Pick<TaskContext, "skills" | "handoffs">,
  unavailable: readonly UnavailableTool[],
  terms: CompletionTerms,
): string {
  return [
    agent.system_prompt.trim(),
    section("How you work here", [...RULES, completionRule(terms)]),
    section(
      "Your skills (read one with load_skill before you do what it is for)",
      context.skills.map((skill) =>
        item(skill.skill_id, `${oneLine(skill.name)}: ${skill.description}`)
      ),
    ),
    section(
      "Agents you can hand work to with create_subtask",
      context.handoffs.map(({ slug, description }) => item(slug, description ?? "")),
    ),
    section(
      "Tools that are not available now; work without them",
      unavailable.map(({ server, code }) => item(server, code)),
    ),
  ].filter((part) => part !== "").join("\n\n");
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `## ${title}\n${lines.map((line) => `- ${line}`).join("\n")}`;
}

function item(id: string, text: string): string {
  return text === "" ? id : `${id}: ${oneLine(text)}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
