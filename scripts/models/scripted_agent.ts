import type { JsonObject, JsonValue } from "../../shared/platform/values/json.ts";

/** One entry of the conversation, independent of the wire format. */
export type ScriptedMessage =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly ScriptedCall[] }
  | {
    readonly role: "tool";
    readonly callId: string;
    readonly name: string;
    readonly text: string;
  };

/** An earlier tool call of the script. */
export interface ScriptedCall {
  readonly callId: string;
  readonly name: string;
  /** JSON text. */
  readonly argumentsText: string;
}

/** A request to a model, independent of the provider's format. */
export interface ScriptedRequest {
  /** The slug of the agent that asks; null for a tool. */
  readonly agent: string | null;
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ScriptedMessage[];
  readonly toolNames: readonly string[];
  /** The description of each tool, by its name. */
  readonly toolDescriptions: ReadonlyMap<string, string>;
}

/** The answer of a scripted model: text, tool calls, or both. */
export interface ScriptedAnswer {
  readonly reasoning?: string;
  readonly text?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
}

/**
 * A model that plays one role. It computes each answer only from the conversation, including tool
 * results, and keeps no state, so that a resumed task gets the same answers.
 */
export interface ScriptedAgent {
  /** The name under which the server counts its requests. */
  readonly name: string;
  /** Whether a request is for this role. The first agent that returns true answers. */
  plays(request: ScriptedRequest): boolean;
  answer(request: ScriptedRequest): ScriptedAnswer | Promise<ScriptedAnswer>;
}

/** Creates an agent that answers the requests for one model name. */
export function scriptModel(model: string, answer: ScriptedAgent["answer"]): ScriptedAgent {
  return { name: model, plays: (request) => request.model === model, answer };
}

/** A tool call with its result. */
export interface ToolOutcome {
  readonly call: ScriptedCall;
  /**
   * The text without the tags around untrusted text, and without the platform's advice on an error.
   */
  readonly text: string;
  /** Whether the tool returned an error. */
  readonly isError: boolean;
  /** The text as JSON; undefined when it is not JSON. */
  readonly json: JsonValue | undefined;
}

/** Finds calls with a result, in call order, of tools whose name ends with `toolName`. */
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

/** Reads the task's input from the first message, as JSON if possible. */
export function readInput(request: ScriptedRequest): JsonValue {
  return readMessage(request.messages.find((message) => message.role === "user")?.text ?? "");
}

/** Reads a message of the user, as JSON if possible. Its text files follow as untrusted text. */
export function readMessage(text: string): JsonValue {
  const [own = ""] = text.split("\n\n<untrusted_data ", 1);
  return parseJson(own) ?? text;
}

/** Whether a value is a JSON object. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns the tool's name in the request: `read_text_file` may be `files__read_text_file`.
 *
 * @throws Error when the request does not offer the tool.
 */
export function findTool(request: ScriptedRequest, toolName: string): string {
  const found = request.toolNames.find((name) => isTool(name, toolName));
  if (found === undefined) {
    const offered = request.toolNames.join(", ") || "none";
    throw new Error(`This agent needs the tool '${toolName}', but is offered: ${offered}`);
  }
  return found;
}

/** Whether a tool's name in a request is this one, with or without its server. */
export function isTool(name: string, toolName: string): boolean {
  return name === toolName || name.endsWith(`__${toolName}`);
}

/**
 * Removes the tags around untrusted text, which a scripted agent does not need. Text outside of the
 * tags is the platform's advice on an error of the tool.
 */
export function readResult(result: string): Pick<ToolOutcome, "text" | "isError"> {
  const fenced = /^([\s\S]*)<untrusted_data[^>]*>\n([\s\S]*)\n<\/untrusted_data>([\s\S]*)$/
    .exec(result);
  if (fenced === null) return { text: result, isError: false };
  const [, before = "", text = "", after = ""] = fenced;
  return { text, isError: (before + after).trim() !== "" };
}

/** Reads a text as JSON; undefined when it is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Most results are plain text.
  }
}
