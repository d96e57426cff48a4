import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { CATALOG_SCOPES } from "./catalog_scopes.ts";
import { messageRole } from "./add_message.ts";
import { queryAsUser } from "./query_as_user.ts";
import { readMessages } from "./read_messages.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** Lists the messages of a conversation. */
export const listMessagesTool = defineTool({
  name: "list_messages",
  title: "List messages",
  description:
    "Lists the messages of one of your conversations, newest first. For older ones, pass " +
    "the id of the last message as before; a page shorter than limit is the last one.",
  version: "1",
  scopes: CATALOG_SCOPES.readConversations,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    conversationId: z.guid(),
    limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT),
    before: z.guid().optional().describe("Id of a message: returns only older ones"),
  }),
  output: z.object({
    messages: z.array(z.object({
      id: z.string(),
      role: messageRole,
      content: z.string(),
      created_at: z.string().describe("ISO 8601"),
    })),
  }),
  run: ({ conversationId, limit, before = null }, context) =>
    queryAsUser(context, { access: "read", action: "list the messages" }, async (sql) => {
      const { messages } = await readMessages(sql, { conversationId, limit, before });
      return {
        messages: messages.map(({ id, role, content, created_at }) => ({
          id,
          role,
          content,
          created_at,
        })),
      };
    }),
});
