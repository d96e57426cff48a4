import type { Json } from "./json.ts";

/** What a chat knows of the job that writes a message. */
export interface ChatMetadata {
  readonly job_id: string;
  /** The step of the user's message that is answered; 0 for the first. */
  readonly step: number;
}

/** A subtask of the job, as its part of the message shows it. */
export interface SubtaskState {
  readonly task_id: string;
  readonly agent: string | null;
  readonly status: string;
}

/** What a review asks, for the page that shows it. */
export interface ReviewNote {
  readonly kind: string;
  readonly question: string;
  readonly options: readonly Json[] | null;
  readonly context: Json;
}

/**
 * A part of an answer in the form of the AI SDK's UI message stream, version 1 (`UIMessageChunk`).
 * `reset-step` is sent only to readers that ask for it.
 */
export type ChatPart =
  | { type: "start"; messageId: string; messageMetadata: ChatMetadata }
  | { type: "start-step" }
  | { type: "finish-step" }
  | { type: "reset-step" }
  | { type: "text-start"; id: string }
  | { type: "text-delta"; id: string; delta: string }
  | { type: "text-end"; id: string; providerMetadata?: { supaswarm: { is_partial: true } } }
  | { type: "reasoning-start"; id: string }
  | { type: "reasoning-delta"; id: string; delta: string }
  | { type: "reasoning-end"; id: string }
  | { type: "source-url"; sourceId: string; url: string; title?: string }
  | {
    type: "file";
    url: string;
    mediaType: string;
    providerMetadata: { supaswarm: { path: string } };
  }
  | {
    type: "tool-input-available";
    toolCallId: string;
    toolName: string;
    input: unknown;
    dynamic: true;
  }
  | {
    type: "tool-approval-request";
    approvalId: string;
    toolCallId: string;
    approvalDescriptor: ReviewNote;
  }
  | { type: "tool-output-available"; toolCallId: string; output: unknown; dynamic: true }
  | { type: "tool-output-error"; toolCallId: string; errorText: string; dynamic: true }
  | { type: "tool-output-denied"; toolCallId: string }
  | { type: "data-subtask"; id: string; data: SubtaskState }
  | { type: "data-output"; id: string; data: unknown }
  | { type: "data-partial"; data: { step: number; text: string }; transient: true }
  | { type: "finish"; finishReason: "stop" | "length" | "tool-calls" }
  | { type: "abort"; reason: string }
  | { type: "error"; errorText: string };
