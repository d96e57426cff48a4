import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { CATALOG_SCOPES } from "./catalog_scopes.ts";
import { queryAsUser } from "./query_as_user.ts";

/** Deletes a conversation with all of its messages. */
export const deleteConversationTool = defineTool({
  name: "delete_conversation",
  title: "Delete a conversation",
  description: "Permanently deletes one of your conversations with all of its messages.",
  version: "1",
  scopes: CATALOG_SCOPES.writeConversations,
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  input: z.strictObject({ conversationId: z.guid() }),
  output: z.object({ ok: z.literal(true) }),
  run: ({ conversationId }, context) =>
    queryAsUser(context, { access: "write", action: "delete the conversation" }, async (sql) => {
      await sql`select private.delete_conversation(${conversationId})`;
      return { ok: true as const };
    }),
});
