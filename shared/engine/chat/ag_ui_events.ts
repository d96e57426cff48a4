import type { ChatPart, ReviewNote } from "../../../client/chat_part.ts";
import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { UNREAD } from "./ag_ui_request.ts";

/** An event of the AG-UI protocol, version 1. */
export interface AgUiEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** The run that events belong to. */
export interface AgUiRun {
  readonly threadId: string;
  readonly runId: string;
  /** The page's own state. */
  readonly state: unknown;
  /** The messages of the thread before the answer. */
  readonly messages: readonly object[];
  readonly jobId: string;
  /** What the page sent and the agent does not see. */
  readonly unread: readonly string[];
}

interface Interrupt {
  readonly id: string;
  readonly reason: string;
  readonly message: string;
  readonly toolCallId: string;
  readonly responseSchema: JsonObject;
  readonly metadata: JsonObject;
}

/** The protocol's version of these events. */
export const AG_UI_VERSION = "1.0";

/** What this server can do, as AG-UI's `AgentCapabilities` has it. */
export function agUiCapabilities(agent: string): JsonObject {
  return {
    identity: { name: agent, type: "supaswarm" },
    transport: { streaming: true, resumable: true },
    tools: { supported: true, clientProvided: false },
    state: { snapshots: true, deltas: true },
    multiAgent: { supported: true },
    reasoning: { supported: true },
    humanInTheLoop: { supported: true, approvals: true, interrupts: true },
    multimodal: { input: { image: true, pdf: true, file: true, audio: false, video: false } },
    custom: { files: "by their address in Storage", unread: [...UNREAD] },
  };
}

/** Turns the parts of an answer into the events of a run. */
export class AgUiEvents {
  readonly #run: AgUiRun;
  readonly #open = new Map<string, Interrupt>();
  readonly #results = new Set<string>();
  /** The messages of this answer so far, for a snapshot without a text that was cut. */
  readonly #answer: { id: string; role: string; [key: string]: unknown }[] = [];
  #text: { readonly id: string; content: string } | null = null;
  #prefix = "";
  #stepCount = 0;
  #isInStep = false;
  #result: unknown;

  constructor(run: AgUiRun) {
    this.#run = run;
  }

  /** The events for a part. */
  add(part: ChatPart): AgUiEvent[] {
    switch (part.type) {
      case "start":
        this.#prefix = part.messageId;
        return this.#begin();
      case "start-step":
        this.#isInStep = true;
        return [{ type: "STEP_STARTED", stepName: `step-${++this.#stepCount}` }];
      case "finish-step":
        if (!this.#isInStep) return [];
        this.#isInStep = false;
        return [{ type: "STEP_FINISHED", stepName: `step-${this.#stepCount}` }];
      case "text-start":
        this.#text = { id: this.#idOf(part.id), content: "" };
        return [{ type: "TEXT_MESSAGE_START", messageId: this.#text.id, role: "assistant" }];
      case "text-delta":
        if (this.#text === null) return [];
        this.#text.content += part.delta;
        return [{ type: "TEXT_MESSAGE_CONTENT", messageId: this.#text.id, delta: part.delta }];
      case "text-end":
        return this.#endText(part.providerMetadata);
      case "reset-step":
        return this.#dropText();
      case "reasoning-start":
        return [
          { type: "REASONING_START", messageId: this.#idOf(part.id) },
          { type: "REASONING_MESSAGE_START", messageId: this.#idOf(part.id), role: "reasoning" },
        ];
      case "reasoning-delta":
        return [{
          type: "REASONING_MESSAGE_CONTENT",
          messageId: this.#idOf(part.id),
          delta: part.delta,
        }];
      case "reasoning-end":
        return [
          { type: "REASONING_MESSAGE_END", messageId: this.#idOf(part.id) },
          { type: "REASONING_END", messageId: this.#idOf(part.id) },
        ];
      case "tool-input-available":
        return this.#callTool(part);
      case "tool-approval-request":
        this.#open.set(part.toolCallId, interruptOf(part));
        return [];
      case "tool-output-available":
        return this.#endTool(part.toolCallId, part.output);
      case "tool-output-error":
        return this.#endTool(part.toolCallId, part.errorText);
      case "tool-output-denied":
        return this.#endTool(part.toolCallId, { approved: false });
      case "data-subtask":
        return [{
          type: "STATE_DELTA",
          delta: [{ op: "add", path: `/subtasks/${part.id}`, value: part.data }],
        }];
      case "data-output":
        this.#result = part.data;
        return [];
      case "source-url":
      case "file":
        return [{ type: "CUSTOM", name: part.type, value: part }];
      case "data-partial":
        return [{ type: "CUSTOM", name: "partial-text", value: part.data }];
      case "finish":
        return [
          ...part.finishReason === "length"
            ? [{ type: "CUSTOM", name: "finish-reason", value: part.finishReason }]
            : [],
          ...this.#finish(
            part.finishReason === "tool-calls"
              ? { type: "interrupt", interrupts: [...this.#open.values()] }
              : { type: "success" },
          ),
        ];
      case "abort":
        return this.#finish({ type: "cancelled" });
      case "error":
        return [{ type: "RUN_ERROR", message: part.errorText }];
    }
  }

  #begin(): AgUiEvent[] {
    const { threadId, runId, state, jobId, messages, unread } = this.#run;
    const own = typeof state === "object" && state !== null ? state : {};
    return [
      { type: "RUN_STARTED", threadId, runId, protocolVersion: AG_UI_VERSION },
      // A reader that begins again has a part of the answer.
      { type: "MESSAGES_SNAPSHOT", messages },
      { type: "STATE_SNAPSHOT", snapshot: { ...own, job_id: jobId, subtasks: {} } },
      ...unread.length === 0 ? [] : [{ type: "CUSTOM", name: "unread", value: [...unread] }],
    ];
  }

  #finish(outcome: object): AgUiEvent[] {
    const { threadId, runId } = this.#run;
    const finished = { type: "RUN_FINISHED", threadId, runId, outcome };
    return [this.#result === undefined ? finished : { ...finished, result: this.#result }];
  }

  #endText(note: object | undefined): AgUiEvent[] {
    if (this.#text === null) return [];
    const { id, content } = this.#text;
    this.#text = null;
    this.#answer.push({ id, role: "assistant", content });
    const end = { type: "TEXT_MESSAGE_END", messageId: id };
    return [note === undefined ? end : { ...end, metadata: { ...note } }];
  }

  /** The text was cut, and another one follows. */
  #dropText(): AgUiEvent[] {
    if (this.#text === null) return [];
    const { id } = this.#text;
    this.#text = null;
    return [
      { type: "TEXT_MESSAGE_END", messageId: id },
      { type: "MESSAGES_SNAPSHOT", messages: [...this.#run.messages, ...this.#answer] },
    ];
  }

  #callTool(
    { toolCallId, toolName, input }: Extract<ChatPart, { type: "tool-input-available" }>,
  ): AgUiEvent[] {
    const args = JSON.stringify(input ?? {});
    this.#answer.push({
      id: toolCallId,
      role: "assistant",
      toolCalls: [{
        id: toolCallId,
        type: "function",
        function: { name: toolName, arguments: args },
      }],
    });
    return [
      { type: "TOOL_CALL_START", toolCallId, toolCallName: toolName },
      { type: "TOOL_CALL_ARGS", toolCallId, delta: args },
      { type: "TOOL_CALL_END", toolCallId },
    ];
  }

  #endTool(toolCallId: string, output: unknown): AgUiEvent[] {
    this.#open.delete(toolCallId);
    if (this.#results.has(toolCallId)) return [];
    this.#results.add(toolCallId);
    const content = typeof output === "string" ? output : JSON.stringify(output ?? null);
    const messageId = `${toolCallId}-result`;
    this.#answer.push({ id: messageId, role: "tool", toolCallId, content });
    return [{ type: "TOOL_CALL_RESULT", messageId, toolCallId, content, role: "tool" }];
  }

  #idOf(id: string): string {
    return `${this.#prefix}-${id}`;
  }
}

function interruptOf(
  { approvalId: id, toolCallId, approvalDescriptor }: Extract<
    ChatPart,
    { type: "tool-approval-request" }
  >,
): Interrupt {
  const { kind, question, options, context } = approvalDescriptor;
  return {
    id,
    reason: `review:${kind}`,
    message: question,
    toolCallId,
    responseSchema: answerSchema(options),
    metadata: { kind, options, context } as JsonObject,
  };
}

function answerSchema(options: ReviewNote["options"]): JsonObject {
  return {
    type: "object",
    properties: {
      approved: { type: "boolean" },
      ...options === null ? {} : { choice: { enum: [...options] as JsonValue[] } },
      comments: { type: "string" },
    },
    required: ["approved"],
  };
}
