import type { JsonObject, JsonValue } from "../../shared/json.ts";

/** One entry of the conversation as a script sees it, whatever the wire format was. */
export type ScriptedMessage =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly ScriptedCall[] }
  | {
    readonly role: "tool";
    readonly callId: string;
    readonly name: string;
    readonly text: string;
  };

/** A tool call that the script asked for earlier. */
export interface ScriptedCall {
  readonly callId: string;
  readonly name: string;
  /** JSON text. */
  readonly argumentsText: string;
}

/** What a model is asked, free of any provider's format. */
export interface ScriptedRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ScriptedMessage[];
  readonly toolNames: readonly string[];
  /** What each tool says of itself, by its name. */
  readonly toolDescriptions: ReadonlyMap<string, string>;
}

/** What a scripted model answers: text, tool calls, or both. */
export interface ScriptedAnswer {
  readonly text?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
}

/**
 * A model that plays one role. It computes each answer from the conversation alone, tool results
 * included, and remembers nothing, so that a resumed task gets the same answers.
 */
export interface ScriptedAgent {
  /** Under which the server counts its requests. */
  readonly name: string;
  /** Whether a request is for this role; the first agent that says so answers. */
  plays(request: ScriptedRequest): boolean;
  answer(request: ScriptedRequest): ScriptedAnswer | Promise<ScriptedAnswer>;
}

/** An agent that answers to one model name. */
export function scriptModel(model: string, answer: ScriptedAgent["answer"]): ScriptedAgent {
  return { name: model, plays: (request) => request.model === model, answer };
}

/** A tool call with its result. */
export interface ToolOutcome {
  readonly call: ScriptedCall;
  /** Without the fence that marks text from outside, and without our advice on an error. */
  readonly text: string;
  /** Whether the tool answered with an error. */
  readonly isError: boolean;
  /** The text as JSON; undefined when it is none. */
  readonly json: JsonValue | undefined;
}

/** The calls of tools whose name ends with `toolName` that have a result, in call order. */
export function findOutcomes(request: ScriptedRequest, toolName: string): ToolOutcome[] {
  const results = new Map<string, string>();
  const calls: ScriptedCall[] = [];
  for (const message of request.messages) {
    if (message.role === "tool") results.set(message.callId, message.text);
    if (message.role === "assistant") calls.push(...message.calls);
  }
  return calls.filter((call) => isTool(call.name, toolName)).flatMap((call) => {
    const result = results.get(call.callId);
    if (result === undefined) return [];
    const read = readResult(result);
    return [{ call, ...read, json: parseJson(read.text) }];
  });
}

/** What the task was given: the first message, as JSON where it is some. */
export function readInput(request: ScriptedRequest): JsonValue {
  const text = request.messages.find((message) => message.role === "user")?.text ?? "";
  return parseJson(text) ?? text;
}

/** True for a JSON object. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The name under which the request offers a tool: `read_text_file` may be `files__read_text_file`.
 *
 * @throws Error when the request offers no such tool.
 */
export function findTool(request: ScriptedRequest, toolName: string): string {
  const found = request.toolNames.find((name) => isTool(name, toolName));
  if (found === undefined) {
    const offered = request.toolNames.join(", ") || "none";
    throw new Error(`This agent needs the tool '${toolName}', but is offered: ${offered}`);
  }
  return found;
}

function isTool(name: string, toolName: string): boolean {
  return name === toolName || name.endsWith(`__${toolName}`);
}

/**
 * Text from outside reaches a model between tags; a scripted agent needs no such protection. Words
 * around the tags are advice on an error that the tool gave.
 */
function readResult(result: string): Pick<ToolOutcome, "text" | "isError"> {
  const fenced = /^([\s\S]*)<untrusted_data[^>]*>\n([\s\S]*)\n<\/untrusted_data>([\s\S]*)$/
    .exec(result);
  if (fenced === null) return { text: result, isError: false };
  const [, before = "", text = "", after = ""] = fenced;
  return { text, isError: (before + after).trim() !== "" };
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Most results are plain text.
  }
}
