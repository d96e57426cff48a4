import type { ChatRequest } from "../../../client/chat_answer.ts";
import { readInput } from "../../../client/chat_history.ts";
import type { ChatMessage } from "../../../client/chat_message.ts";
import type { ChatState } from "../../../client/chat_platform.ts";
import { z } from "../../vendor/zod.js";

const agUiMessage = z.looseObject({
  id: z.string(),
  role: z.string(),
  content: z.union([
    z.string(),
    z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  ]).nullish(),
});

const resumeEntry = z.object({
  interruptId: z.string(),
  status: z.enum(["resolved", "cancelled"]),
  payload: z.unknown(),
});

/** The body of a run, as AG-UI's `RunAgentInput` has it. */
export const agUiRequest = z.object({
  threadId: z.string().min(1).max(200),
  runId: z.string().min(1),
  state: z.unknown(),
  messages: z.array(agUiMessage),
  resume: z.array(resumeEntry).nullish(),
});

/** A checked run. */
export type AgUiBody = z.infer<typeof agUiRequest>;

/**
 * What a run asks of the chat: a new answer, the answers to its interrupts, or, if the thread has no
 * message that the job does not have, to read on. Fewer messages, or another last one, replace those
 * of the job.
 *
 * @param chat With its messages.
 */
export function askedOf(run: AgUiBody, chat: ChatState | null): ChatRequest | "read" | null {
  const messages = run.messages.flatMap(toMessage);
  const resumed = run.resume ?? [];
  const request = { trigger: "submit-message", chatId: run.threadId } as const;
  if (resumed.length > 0) {
    return { ...request, messages: [...messages, answering(resumed)] };
  }
  const asked = messages.filter(({ role }) => role === "user");
  const last = asked.at(-1);
  if (last === undefined) return chat === null ? null : "read";
  const upToLast = messages.slice(0, messages.lastIndexOf(last) + 1);
  const known = chat === null ? 0 : chat.user_steps.length + 1;
  if (asked.length > known) return { ...request, messages: upToLast };
  if (asked.length === known && textOf(last) === newestText(chat)) return "read";
  return { ...request, messages: upToLast, messageId: last.id };
}

function newestText(chat: ChatState | null): string | null {
  const newest = chat?.messages?.at(-1);
  return newest === undefined ? null : readInput(newest.input).text;
}

function textOf({ parts }: ChatMessage): string {
  return (parts as readonly { readonly text?: string }[]).map(({ text }) => text ?? "").join("\n");
}

function toMessage({ id, role, content }: z.infer<typeof agUiMessage>): ChatMessage[] {
  if (role !== "user" && role !== "assistant") return [];
  const text = typeof content === "string"
    ? content
    : (content ?? []).map((part) => part.text ?? "").filter((part) => part !== "").join("\n");
  const part = { type: "text", text };
  return [{ id, role, parts: [part] }];
}

/** The answers to interrupts as a message of the page has them. */
function answering(resumed: readonly z.infer<typeof resumeEntry>[]): ChatMessage {
  const parts = resumed.map(({ interruptId: id, status, payload }) => {
    const given = typeof payload === "object" && payload !== null ? payload : {};
    const said = typeof payload === "boolean"
      ? payload
      : (given as { approved?: unknown }).approved;
    const approved = status === "resolved" && said !== false;
    return {
      type: "dynamic-tool",
      state: "output-available",
      approval: { id },
      output: { ...given, approved },
    };
  });
  return { id: "resume", role: "assistant", parts };
}
