import type { ChatRequest } from "../../../client/chat_answer.ts";
import { readInput } from "../../../client/chat_history.ts";
import { type ChatMessage, contentOf, storedPath } from "../../../client/chat_message.ts";
import type { ChatState } from "../../../client/chat_platform.ts";
import { asJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { z } from "../../vendor/zod.js";
import { chatId } from "./chat_request.ts";

const agUiMessage = z.looseObject({
  id: z.string(),
  role: z.string(),
  /** Its form depends on the role. */
  content: z.unknown().optional(),
});

const resumeEntry = z.object({
  interruptId: z.string(),
  status: z.enum(["resolved", "cancelled"]),
  payload: z.unknown().optional(),
});

/** The body of a run, as AG-UI's `RunAgentInput` has it. */
export const agUiRequest = z.object({
  threadId: chatId,
  runId: z.string().min(1),
  state: z.unknown().optional(),
  messages: z.array(agUiMessage),
  context: z.unknown().optional(),
  tools: z.unknown().optional(),
  forwardedProps: z.unknown().optional(),
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
  if (asked.length === known && isNewest(last, chat)) return "read";
  return { ...request, messages: upToLast, messageId: last.id };
}

function isNewest(message: ChatMessage, chat: ChatState | null): boolean {
  const newest = chat?.messages?.at(-1);
  if (newest === undefined) return false;
  const { text, paths } = readInput(newest.input);
  const sent = contentOf(message);
  return sent.text === text && String(sent.files.map(storedPath)) === String(paths);
}

/** Roles of messages that this server does not read; those of an answer are in the job. */
const UNREAD_ROLES = ["system", "developer"];

/** What of any run is not read. */
export const UNREAD = ["context", "tools", "forwardedProps", ...UNREAD_ROLES.map(ofRole)];

/** What of this run is not read. */
export function unreadOf({ context, tools, forwardedProps, messages }: AgUiBody): string[] {
  const roles = new Set(messages.map(({ role }) => role));
  const newest = messages.findLast(({ role }) => role === "user");
  const parts = listOf(newest?.content).filter((part) => chatPartsOf(part).length === 0);
  return [
    ...listOf(context).length > 0 ? ["context"] : [],
    ...listOf(tools).length > 0 ? ["tools"] : [],
    ...Object.keys(asJsonObject(forwardedProps as JsonValue)).length > 0 ? ["forwardedProps"] : [],
    ...UNREAD_ROLES.filter((role) => roles.has(role)).map(ofRole),
    ...new Set(parts.map((part) => `parts of the type ${asJsonObject(part as JsonValue).type}`)),
  ];
}

function ofRole(role: string): string {
  return `messages of the role ${role}`;
}

function toMessage({ id, role, content }: z.infer<typeof agUiMessage>): ChatMessage[] {
  if (role !== "user" && role !== "assistant") return [];
  const parts = listOf(content).flatMap(chatPartsOf).filter(({ text }) => text !== "");
  return [{ id, role, parts }];
}

/** The items of a list; a text is its only item. */
function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : typeof value === "string" ? [value] : [];
}

const MEDIA_TYPES = ["image", "audio", "video", "document", "binary"];

type Part = { readonly type: string } & JsonObject;

/** A part of a content as the AI SDK has it; none for an unknown one. */
function chatPartsOf(given: unknown): Part[] {
  if (typeof given === "string") return [{ type: "text", text: given }];
  const part = asJsonObject(given as JsonValue);
  if (typeof part.text === "string") return [{ type: "text", text: part.text }];
  return MEDIA_TYPES.includes(String(part.type)) ? [filePartOf(part)] : [];
}

/** Before version 1.0, a `binary` part had the members of its source itself. */
function filePartOf(part: JsonObject): Part {
  const {
    type,
    mimeType: mediaType = null,
    value = null,
    url = value,
    data = null,
    filename = null,
  } = {
    ...part,
    ...asJsonObject(part.source),
  };
  const bytes = type === "data" ? value : data;
  const address = bytes === null ? url : `data:${mediaType};base64,${bytes}`;
  return { type: "file", url: address, mediaType, filename };
}

/** The answers to interrupts as a message of the page has them. */
function answering(resumed: readonly z.infer<typeof resumeEntry>[]): ChatMessage {
  const parts = resumed.map(({ interruptId: id, status, payload }) => {
    const given = asJsonObject(payload as JsonValue);
    const said = typeof payload === "boolean" ? payload : given.approved;
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
