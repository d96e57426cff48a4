import type { AgentToolset } from "../../gateway/tool_contracts/agent_tool.ts";
import type { ModelTool } from "../../models/llm/model_port.ts";
import { isJsonObject } from "../../platform/values/json.ts";
import type { AgentState } from "./agent_state.ts";
import { inputText } from "./build_messages.ts";
import { checkedMessage } from "./guardrails.ts";
import { errorResult, type StepResult, textResult } from "./step_result.ts";
import type { Step } from "./task_context.ts";
import { type IndexedTool, indexTools, matchTools, type ToolIndex } from "./tool_index.ts";

/** Size of an agent's tool definitions above which it searches for tools. About 10,000 tokens. */
export const TOOL_SEARCH_BYTES = 40_000;

/** Tools in the first offer: those that worked most, and those that match the task's input. */
const MAX_USED = 8;
const MAX_MATCHING = 4;
/** The part of the limit that the first offer may take. */
const FIRST_OFFER_SHARE = 0.5;
/** Tools that one search finds. */
const MAX_FOUND = 5;
/** Tools that stay offered after they were found or called; older ones can be found again. */
const MAX_LATER = 20;
const MAX_SUMMARY_CHARS = 200;
const MAX_LISTED_SERVERS = 40;

/** The registry tools that a model call offers. */
export interface ToolOffer {
  /** Those of the first offer, then the others in the order in which they were added. */
  readonly tools: readonly ModelTool[];
  /** The servers that `search_tools` searches; null if every tool is offered. */
  readonly searched: readonly string[] | null;
  /** The first offer of the task, to be recorded with this call; absent if it is already. */
  readonly firstOffer?: readonly string[];
}

/**
 * The registry tools that the next model call offers. Small toolsets are offered whole. Of a larger
 * one the model gets the likely tools, and finds the others with `search_tools`.
 *
 * The first offer is recorded with the call that makes it, and what follows depends only on the
 * steps, so a worker that takes over offers the same tools in the same order. Tools are only ever
 * added at the end, so that prompts share their beginning, until there are too many.
 */
export function offerTools(state: AgentState): ToolOffer {
  const { toolset, toolSearchBytes, steps } = state;
  const index = indexTools(toolset);
  const recorded = firstOfferOf(steps);
  const isSmall = recorded === null && index.bytes <= toolSearchBytes;
  if (isSmall || index.tools.size === 0) {
    return { tools: [...index.tools.values().map(({ offered }) => offered)], searched: null };
  }
  const first = recorded ?? likelyTools(state, index, toolSearchBytes);
  const names = new Set([...first, ...addedTools(steps, new Set(first))]);
  return {
    tools: [...names].flatMap((name) => index.tools.get(name)?.offered ?? []),
    searched: serversOf(toolset),
    ...(recorded === null ? { firstOffer: first } : {}),
  };
}

/**
 * The names of the tools that a call after these steps offers, as far as they are recorded; null if
 * it offers every tool.
 */
export function offeredNames(steps: readonly Step[]): readonly string[] | null {
  const first = firstOfferOf(steps);
  return first === null ? null : [...new Set([...first, ...addedTools(steps, new Set(first))])];
}

function firstOfferOf(steps: readonly Step[]): readonly string[] | null {
  for (const step of steps) {
    if (step.kind === "model" && step.input?.offered_tools !== undefined) {
      return step.input.offered_tools;
    }
  }
  return null;
}

/**
 * The tools that this agent's work probably needs: those with the most successful calls of the
 * task's owner, or of everyone if the owner has none, and those that match the task's input.
 */
function likelyTools(
  { context, steps }: AgentState,
  index: ToolIndex,
  limitBytes: number,
): readonly string[] {
  const all = [...index.tools.values()];
  const usesOf = ({ tool }: IndexedTool) => tool.successCount ?? 0;
  const mostUsed = new Set(
    all.filter((tool) => usesOf(tool) > 0).sort((a, b) => usesOf(b) - usesOf(a)).slice(0, MAX_USED),
  );
  // Not in the order of their counts, which change with each task while the tools stay the same.
  const used = all.filter((tool) => mostUsed.has(tool));
  const input = inputText(checkedMessage(steps, 0, context.task.input));
  const likely = new Set([...used, ...matchTools(input, index, MAX_MATCHING)]);
  let roomBytes = limitBytes * FIRST_OFFER_SHARE;
  return [...likely].flatMap(({ tool, bytes }) => {
    if (bytes > roomBytes) return [];
    roomBytes -= bytes;
    return [tool.modelName];
  });
}

/** The tools that searches found or that were called, in the order in which that happened. */
function addedTools(steps: readonly Step[], first: ReadonlySet<string>): readonly string[] {
  const mentions = steps.flatMap(mentionedTools).filter((name) => !first.has(name));
  const newest = new Set(new Set(mentions.toReversed()).values().take(MAX_LATER));
  return mentions.filter((name) => newest.has(name));
}

function mentionedTools(step: Step): readonly string[] {
  if (step.kind === "tool") {
    const name = step.input?.model_name;
    return typeof name === "string" ? [name] : [];
  }
  if (step.kind !== "system" || step.name !== "search_tools") return [];
  const found = isJsonObject(step.output) ? step.output.tools : null;
  return Array.isArray(found) ? found.filter((name) => typeof name === "string") : [];
}

function serversOf({ tools }: AgentToolset): readonly string[] {
  return [...new Set(tools.map(({ server }) => server))].slice(0, MAX_LISTED_SERVERS);
}

/** The result of `search_tools`: the best matches. The next model call offers them. */
export function searchTools(query: string, toolset: AgentToolset): StepResult {
  const found = matchTools(query, indexTools(toolset), MAX_FOUND);
  if (found.length === 0) {
    return errorResult(
      "TOOL_NOT_FOUND",
      "No tool matches these words. Search with other words for what the tool does, or with the " +
        `name of a server: ${serversOf(toolset).join(", ") || "there is none"}.`,
    );
  }
  return textResult(found.map(summaryOf).join("\n"), {
    tools: found.map(({ tool }) => tool.modelName),
  });
}

/** One line; the whole description is part of the offered tool. */
function summaryOf({ tool }: IndexedTool): string {
  const line = tool.description.replace(/\s+/g, " ").trim();
  const summary = line.length > MAX_SUMMARY_CHARS ? `${line.slice(0, MAX_SUMMARY_CHARS)}…` : line;
  return `${tool.modelName}: ${summary}`;
}
