import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { CATALOG_SCOPES } from "./catalog_scopes.ts";
import { queryAsUser } from "./query_as_user.ts";
import { readMessages, type StoredConversation, type StoredMessage } from "./read_messages.ts";
import { fencedText, inlineText } from "../../platform/values/markdown_text.ts";
import { messageFields } from "./add_message.ts";

const MAX_MESSAGES = 10_000;
/**
 * Limit that keeps the response of the edge function, which contains the text twice, small enough.
 */
const MAX_CHARACTERS = 5_000_000;

/** Exports a conversation as a document. */
export const exportConversationTool = defineTool({
  name: "export_conversation",
  title: "Export a conversation",
  description:
    "Exports one of your conversations with all of its messages, oldest first: as JSON, " +
    "whose messages add_message accepts, or as Markdown.",
  version: "1",
  scopes: CATALOG_SCOPES.readConversations,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    conversationId: z.guid(),
    format: z.enum(["json", "markdown"]).default("json"),
  }),
  output: z.object({ content: z.string(), mime: z.string() }),
  run: ({ conversationId, format }, context) =>
    queryAsUser(context, { access: "read", action: "export the conversation" }, async (sql) => {
      const range = { conversationId, limit: MAX_MESSAGES + 1, before: null };
      const conversation = await readMessages(sql, range);
      const exported = format === "json"
        ? { content: toJsonDocument(conversation), mime: "application/json" }
        : { content: toMarkdownDocument(conversation), mime: "text/markdown; charset=utf-8" };
      const isTooLarge = conversation.messages.length > MAX_MESSAGES ||
        exported.content.length > MAX_CHARACTERS;
      if (isTooLarge) throw tooLarge();
      return exported;
    }),
});

function tooLarge(): SwarmError {
  return new SwarmError(
    "OUTPUT_TOO_LARGE",
    `Cannot export the conversation: it has more than ${MAX_MESSAGES} messages or ` +
      `${MAX_CHARACTERS} characters`,
    { hint: "Read it page by page with list_messages." },
  );
}

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
