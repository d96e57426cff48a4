import type { JsonObject } from "../../../shared/platform/values/json.ts";
import {
  findOutcomes,
  findTool,
  isObject,
  isTool,
  readInput,
  type ScriptedAnswer,
  type ScriptedRequest,
} from "../../../scripts/models/scripted_agent.ts";
import { PICKY_APIS, SYNONYMS } from "./picky_apis.ts";

const VALUES = ["ada", "2026-11-22"] as const;
const MAX_CALLS = 3;

/** The input of a task. */
export interface GuessingTask {
  /** Index of the API. The input does not name it, so only the model's own words find its tool. */
  readonly api: number;
  /** Makes the guesses of each task different. */
  readonly round: number;
}

/**
 * A model that knows the values but not the names of arguments. It guesses one of four names for
 * each, unless the tool's description or a retry message shows names that worked. It fixes the
 * argument that an error names. It searches once for a tool that is not offered; without it, the task
 * fails.
 */
export function answerByGuessing(request: ScriptedRequest): ScriptedAnswer {
  const { api, round } = readTask(request);
  const tool = PICKY_APIS[api]?.slug ?? "";
  const outcomes = findOutcomes(request, tool);
  const last = outcomes.at(-1);
  if (last !== undefined && (!last.isError || outcomes.length >= MAX_CALLS)) {
    return { toolCalls: [{ name: "complete_task", arguments: { output: last.text } }] };
  }
  if (!request.toolNames.some((name) => isTool(name, tool)) && mayStillSearch(request)) {
    const query = `find entries of a day in the ${tool}`;
    return { toolCalls: [{ name: "search_tools", arguments: { query } }] };
  }
  const name = findTool(request, tool);
  const names = last === undefined
    ? SYNONYMS.map((synonyms, slot) => guess(synonyms, `${tool} ${round} ${slot}`))
    : namesOf(JSON.parse(last.call.argumentsText));
  const known = shownNames(request.toolDescriptions.get(name) ?? "") ??
    shownNames(adviceOn(request));
  const nextNames = known ?? fixNames(names, last?.text ?? "");
  return { toolCalls: [{ name, arguments: argumentsOf(nextNames) }] };
}

function readTask(request: ScriptedRequest): GuessingTask {
  const input = readInput(request);
  if (!isObject(input) || typeof input.api !== "number" || typeof input.round !== "number") {
    throw new Error("Cannot read the task: its input needs an api and a round");
  }
  return { api: input.api, round: input.round };
}

/** It searches once, where the agent has too many tools for a prompt. */
function mayStillSearch(request: ScriptedRequest): boolean {
  return request.toolNames.includes("search_tools") &&
    findOutcomes(request, "search_tools").length === 0;
}

/** Finds the names of arguments that worked, according to a text. */
function shownNames(text: string): readonly string[] | undefined {
  const shown = /have worked for this tool call[^{]*(\{[^}]*\})/.exec(text) ??
    /PREVIOUSLY SUCCESSFUL PARAMETERS[^{]*(\{[^}]*\})/.exec(text);
  if (shown?.[1] === undefined) return undefined;
  const names = namesOf(JSON.parse(shown[1]));
  return names.length === SYNONYMS.length ? names : undefined;
}

/** Returns the complete newest tool result, including the platform's advice. */
function adviceOn({ messages }: ScriptedRequest): string {
  const last = messages.findLast(({ role }) => role === "tool");
  return last?.role === "tool" ? last.text : "";
}

/** Returns the names by argument, independent of their order. */
function namesOf(args: JsonObject): string[] {
  return SYNONYMS.flatMap((synonyms) => synonyms.filter((name) => Object.hasOwn(args, name)));
}

function fixNames(names: readonly string[], error: string): readonly string[] {
  const missing = /missing parameter: (\w+)/.exec(error)?.[1];
  return names.map((name, slot) => SYNONYMS[slot]?.find((synonym) => synonym === missing) ?? name);
}

function argumentsOf(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name, slot) => [name, VALUES[slot] ?? ""]));
}

/** Guesses names. The same text gives the same guess. */
function guess(names: readonly string[], seed: string): string {
  let hash = 0x811c9dc5;
  for (const character of seed) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  }
  // The low bits of this hash depend only on the last character.
  return names[(hash >>> 16) % names.length] ?? "";
}
