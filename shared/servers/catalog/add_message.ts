import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { CATALOG_SCOPES } from "./catalog_scopes.ts";
import { queryAsUser } from "./query_as_user.ts";

const MAX_CONTENT_CHARACTERS = 200_000;
const MAX_CLIENT_ID_CHARACTERS = 200;
const addedSchema = z.object({ id: z.guid() });

/** The author of a message. */
export const messageRole = z.enum(["user", "assistant"]);

/** A message as a client sends it. */
export const messageFields = {
  role: messageRole,
  content: z.string().min(1).max(MAX_CONTENT_CHARACTERS),
  clientMessageId: z.string().min(1).max(MAX_CLIENT_ID_CHARACTERS).optional().describe(
    "A key of your choice. Sent again in the same conversation, it returns the existing message",
  ),
};

/** Adds a message to a conversation. */
export const addMessageTool = defineTool({
  name: "add_message",
  title: "Add a message",
  description:
    "Adds a message to one of your conversations. With a clientMessageId the call can be repeated " +
    "safely: it adds one message.",
  version: "1",
  scopes: CATALOG_SCOPES.writeConversations,
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  input: z.strictObject({ conversationId: z.guid(), ...messageFields }),
  output: z.object({ id: z.string() }),
  run: ({ conversationId, role, content, clientMessageId = null }, context) =>
    queryAsUser(context, { access: "write", action: "add the message" }, async (sql) => {
      const [row] = await sql`
        select private.add_message(
          p_conversation_id => ${conversationId},
          p_role => ${role},
          p_content => ${content},
          p_client_message_id => ${clientMessageId}
        ) as id`;
      return addedSchema.parse(row);
    }),
});
