import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";
import { ScriptError } from "../script_error.ts";
import {
  findTool,
  isTool,
  readInput,
  readMessage,
  readResult,
  type ScriptedAnswer,
  type ScriptedMessage,
  type ScriptedRequest,
} from "../scripted_agent.ts";
import { fillPlaceholders, fillText, type PlaceholderValues } from "./placeholders.ts";
import type { Script, ScriptRule } from "./read_script.ts";

/** Most characters of a message that an error quotes. */
const MAX_QUOTED_CHARS = 160;

/**
 * Answers with the first rule that applies to the newest messages: those after the model's last
 * answer.
 *
 * @throws ScriptError when no rule applies, or the rule names a tool or a value that the request does
 * not have.
 */
export function playScript(script: Script, request: ScriptedRequest): ScriptedAnswer {
  const last = request.messages.findLastIndex(({ role }) => role === "assistant");
  const newest = request.messages.slice(last + 1);
  for (const rule of script.rules) {
    if (rule.isFirst && last >= 0) continue;
    const match = findMatch(rule, newest);
    if (match !== null) return answer(rule, match, script, request);
  }
  throw new ScriptError(
    `no rule of ${script.fileName} applies to the last message, ${describe(newest)}. ` +
      "Add a rule, or one without when at the end",
  );
}

/** The text to which a rule applies, and the captures of its pattern. */
interface Match {
  readonly text: string;
  readonly captures: readonly (readonly [string, string])[];
}

function findMatch(
  { contains, pattern, resultOf }: ScriptRule,
  newest: readonly ScriptedMessage[],
): Match | null {
  const hasText = contains !== null || pattern !== null;
  const texts = newest
    .filter((message) =>
      resultOf === null
        ? message.role === "user" || !hasText
        : message.role === "tool" && isTool(message.name, wireName(resultOf))
    )
    .map(textOf);
  if (!hasText && resultOf === null) return { text: texts.at(-1) ?? "", captures: [] };
  for (const text of texts) {
    if (contains !== null && !text.includes(contains)) continue;
    const match = pattern?.exec(text);
    if (match === null) continue;
    return { text, captures: match === undefined ? [] : capturesOf(match) };
  }
  return null;
}

/** By number and by name, without those that did not take part in the match. */
function capturesOf(match: RegExpExecArray): (readonly [string, string])[] {
  const all = [...Object.entries([...match]), ...Object.entries(match.groups ?? {})];
  return all.filter(([, text]) => text !== undefined);
}

function answer(
  rule: ScriptRule,
  { text, captures }: Match,
  { fileName }: Script,
  request: ScriptedRequest,
): ScriptedAnswer {
  const values: PlaceholderValues = new Map<string, JsonValue>([
    ...captures,
    ["input", readInput(request)],
    ["message", readMessage(text)],
  ]);
  try {
    return {
      ...rule.reasoning === null ? {} : { reasoning: fillText(rule.reasoning, values) },
      ...rule.say === null ? {} : { text: fillText(rule.say, values) },
      toolCalls: rule.calls.map(({ tool, arguments: given }) => ({
        name: nameOf(tool, request),
        arguments: fillPlaceholders(given, values) as JsonObject,
      })),
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ScriptError(`the rule at ${fileName}:${rule.line} cannot answer: ${message}`, {
      cause: error,
    });
  }
}

/** An agent with many tools may call those that it does not see, by their whole name. */
function nameOf(tool: string, request: ScriptedRequest): string {
  const name = wireName(tool);
  const isOffered = request.toolNames.some((offered) => isTool(offered, name));
  const mayBeUnseen = tool.includes("/") && request.toolNames.includes("search_tools");
  return !isOffered && mayBeUnseen ? name : findTool(request, name);
}

/** Files write server/tool; models see server__tool. */
function wireName(tool: string): string {
  return tool.replace("/", "__");
}

function textOf(message: ScriptedMessage): string {
  return message.role === "tool" ? readResult(message.text).text : message.text;
}

function describe(newest: readonly ScriptedMessage[]): string {
  const message = newest.at(-1);
  if (message === undefined) return "which is the model's own";
  const text = textOf(message);
  const quoted = text.length <= MAX_QUOTED_CHARS ? text : `${text.slice(0, MAX_QUOTED_CHARS)}…`;
  const author = message.role === "tool" ? `the result of ${message.name}` : "the user's";
  return `${author}: ${JSON.stringify(quoted)}`;
}
