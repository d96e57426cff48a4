import { z } from "../../vendor/zod.js";
import { fencedText, inlineText } from "../../platform/values/markdown_text.ts";
import { messageFields } from "./add_message.ts";
import type { StoredConversation, StoredMessage } from "./read_messages.ts";

const FORMAT = "supaswarm.conversation@1";

/**
 * An exported conversation: `title` is input for create_conversation, each message is input for
 * add_message, oldest first. Each message has a key, so that an interrupted import can be repeated.
 */
export const conversationExport = z.object({
  format: z.literal(FORMAT),
  id: z.string(),
  title: z.string(),
  created_at: z.string(),
  messages: z.array(z.object({
    ...messageFields,
    content: z.string(),
    clientMessageId: z.string(),
    created_at: z.string(),
  })),
});

/** The conversation as JSON that can be imported again. */
export function toJsonDocument(conversation: StoredConversation): string {
  const { id, title, created_at, messages } = conversation;
  const exported: z.infer<typeof conversationExport> = {
    format: FORMAT,
    id,
    title,
    created_at,
    messages: messages.toReversed().map(({ id, role, content, client_message_id, created_at }) => ({
      role,
      content,
      clientMessageId: client_message_id ?? id,
      created_at,
    })),
  };
  return JSON.stringify(exported);
}

/**
 * The conversation as Markdown. Each message is a fenced block, which no message can end to become
 * part of the document.
 */
export function toMarkdownDocument({ title, created_at, messages }: StoredConversation): string {
  const sections = messages.toReversed().map(toSection);
  return [`# ${inlineText(title)}`, `Created ${created_at}`, ...sections].join("\n\n") + "\n";
}

function toSection({ role, content, created_at }: StoredMessage): string {
  const author = role === "user" ? "User" : "Assistant";
  return `## ${author}, ${created_at}\n\n${fencedText(content, "text")}`;
}
