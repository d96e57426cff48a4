import { type ErrorCode, traitsOf } from "../../../platform/errors/codes.ts";
import { asJsonObject, type JsonObject } from "../../../platform/values/json.ts";
import { fenceData } from "../../tool_contracts/fence_data.ts";
import { describeProblems, findArgumentProblems } from "./argument_problems.ts";
import { knownGoodText } from "./known_good.ts";
import { inferMissingValue } from "./inferred_value.ts";
import { nearestNames } from "../../../platform/values/nearest_names.ts";
import type { AgentTool, KnownGoodParameters } from "../../tool_contracts/agent_tool.ts";
import { beginningOf } from "../../../platform/values/beginning_of.ts";

/** Consecutive failed calls of one tool after which the agent must try another way. */
const MAX_TOOL_ATTEMPTS = 3;

/** Maximum number of examined declared arguments, and of unknown ones with a suggestion. */
const MAX_NAMES = 500;
const MAX_STRANGE_NAMES = 5;

const MAX_REQUEST_CHARACTERS = 4_000;

/** A failed call and the agent's goal. */
export interface FailedCall {
  readonly tool: AgentTool;
  readonly arguments: JsonObject;
  /** The error of the tool or its server, without a fence. */
  readonly error: string;
  /** The stable code of the answer; absent if the tool itself reported the error. */
  readonly errorCode?: ErrorCode | undefined;
  /** Number of the consecutive call of this tool, from 1. */
  readonly attempt: number;
  /** The request of the master task, as text. */
  readonly request: string;
}

/**
 * The text that a model sees after a failed call: `EXCEEDED_RETRIES` after the third consecutive
 * failure of any kind; before that the full retry message for an argument or tool error, and only
 * the error for failures that other arguments cannot fix (transport, credentials, configuration).
 */
export function toolErrorMessage(call: FailedCall): string {
  if (hasExceededRetries(call)) return exceededRetriesMessage(call);
  return traitsOf(call.errorCode).isMendable ? retryMessage(call) : shownError(call);
}

/** Whether {@linkcode toolErrorMessage} of this call says `EXCEEDED_RETRIES`. */
export function hasExceededRetries({ attempt }: Pick<FailedCall, "attempt">): boolean {
  return attempt >= MAX_TOOL_ATTEMPTS;
}

/** The error as data, for a model. */
function shownError({ tool, error }: FailedCall): string {
  return fenceData(error, `${tool.server}/${tool.toolName}`);
}

function retryMessage(call: FailedCall): string {
  const { tool, attempt, request } = call;
  const sections = [
    `🔄 MCP TOOL RETRY - Attempt ${attempt}/${MAX_TOOL_ATTEMPTS}`,
    `The tool "${tool.modelName}" returned an interactive error message:`,
    `ERROR MESSAGE:\n${shownError(call)}`,
    fixSection(call),
    inferredSection(call),
    knownGoodSection(tool.knownGood),
    `📝 USER'S ORIGINAL REQUEST: ${JSON.stringify(shownRequest(request))}`,
    INSTRUCTIONS,
  ];
  return sections.filter((section) => section !== undefined).join("\n\n");
}

/** The prompt has the whole request; without this, each failed call would repeat a long one. */
function shownRequest(request: string): string {
  return request.length <= MAX_REQUEST_CHARACTERS
    ? request
    : `${beginningOf(request, MAX_REQUEST_CHARACTERS)}…`;
}

const INSTRUCTIONS = `📋 MCP PROTOCOL INSTRUCTIONS:
1. READ the error message carefully - it tells you EXACTLY what's needed
2. Generate a BRAND NEW tool call with ONLY the correct parameters
3. **DO NOT include parameters mentioned as wrong in the error**
4. **ONLY use the parameter names specified in the error message**`;

function exceededRetriesMessage(call: FailedCall): string {
  return [
    `EXCEEDED_RETRIES: the tool "${call.tool.modelName}" failed ${call.attempt} times in a row.`,
    `LAST ERROR MESSAGE:\n${shownError(call)}`,
    "Do not call it again in the same way. Reach the goal another way, or ask a person with " +
    "request_human_review.",
  ].join("\n\n");
}

function fixSection(call: FailedCall): string | undefined {
  const fix = suggestFix(call);
  return fix === undefined ? undefined : `💡 SUGGESTED FIX:\n${fix}`;
}

function suggestFix(call: FailedCall): string | undefined {
  const { inputSchema } = call.tool;
  const problems = findArgumentProblems(inputSchema, call.arguments);
  if (problems.length > 0) return describeProblems(problems);
  const properties = asJsonObject(inputSchema.properties);
  const unused = Object.keys(properties).slice(0, MAX_NAMES)
    .filter((name) => !Object.hasOwn(call.arguments, name));
  const words = new Set(call.error.split(/[^\p{L}\p{N}_$-]+/u));
  const asked = unused.filter((name) => words.has(name));
  if (asked.length > 0) return `Give ${asked.map((name) => `'${name}'`).join(" and ")}.`;
  const strange = Object.keys(call.arguments).filter((name) => !Object.hasOwn(properties, name));
  const meant = strange.slice(0, MAX_STRANGE_NAMES).flatMap((name) =>
    nearestNames(name, unused, 1).map((nearest) => `Use '${nearest}' instead of '${name}'.`)
  );
  return meant.length > 0 ? meant.join("\n") : undefined;
}

function inferredSection(call: FailedCall): string | undefined {
  const inferred = inferMissingValue(call.tool.inputSchema, call.arguments, call.request);
  if (inferred === undefined) return undefined;
  const value = JSON.stringify(inferred.value);
  return `🔍 INFERRED FROM THE REQUEST: "${inferred.parameter}" is probably ${value}`;
}

function knownGoodSection(known: KnownGoodParameters | undefined): string | undefined {
  if (known === undefined) return undefined;
  const kind = known.isShape ? ", their shape" : "";
  return [
    `✅ PREVIOUSLY SUCCESSFUL PARAMETERS (${known.successCount} successful executions${kind}):`,
    knownGoodText(known),
    "",
    "These parameters have worked before. Use them as a reference for the correct format and " +
    "structure.",
  ].join("\n");
}
