import { type ChatAnswer, readAnswer } from "../../../client/chat_answer.ts";
import type { ChatPlatform } from "../../../client/chat_platform.ts";
import { messageStreamResponse } from "../../platform/http/event_stream.ts";
import { AgUiEvents, type AgUiRun } from "./ag_ui_events.ts";

/** A stream that is resumed begins anew, so it must be able to send a whole answer. */
const MAX_STREAM_BYTES = 16 * 1_048_576;

/** How long a response may last, and how it reports errors. */
export interface AnswerStreamOptions {
  readonly maxMs: number;
  /** Whether the isolate has too little left to go on. */
  readonly isOver: () => boolean;
  /** The text for the reader of an error, which it logs. */
  readonly describe: (error: unknown) => string;
}

/** An answer as the AI SDK's UI message stream, version 1. */
export function uiMessageStream(
  platform: ChatPlatform,
  answer: ChatAnswer,
  { describe, canReset, ...limits }: AnswerStreamOptions & { readonly canReset: boolean },
): Response {
  async function* messages(signal: AbortSignal) {
    try {
      for await (const part of readAnswer(platform, answer, { signal, canReset })) {
        yield JSON.stringify(part);
      }
    } catch (error) {
      // At a limit the reader resumes, because the end is missing.
      if (signal.aborted) return;
      yield JSON.stringify({ type: "error", errorText: describe(error) });
    }
    yield "[DONE]";
  }
  return messageStreamResponse({
    messages,
    headers: { "x-vercel-ai-ui-message-stream": "v1", "x-accel-buffering": "no" },
    maxBytes: MAX_STREAM_BYTES,
    ...limits,
  });
}

/** An answer as the events of an AG-UI run. */
export function agUiStream(
  platform: ChatPlatform,
  answer: ChatAnswer,
  { describe, run, ...limits }: AnswerStreamOptions & { readonly run: AgUiRun },
): Response {
  async function* messages(signal: AbortSignal) {
    const events = new AgUiEvents(run);
    try {
      for await (const part of readAnswer(platform, answer, { signal, canReset: true })) {
        for (const event of events.add(part)) yield JSON.stringify(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      yield JSON.stringify({ type: "RUN_ERROR", message: describe(error) });
    }
  }
  return messageStreamResponse({ messages, maxBytes: MAX_STREAM_BYTES, ...limits });
}
