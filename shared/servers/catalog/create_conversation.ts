import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { CATALOG_SCOPES } from "./catalog_scopes.ts";
import { queryAsUser } from "./query_as_user.ts";

const MAX_TITLE_CHARACTERS = 200;
const createdSchema = z.object({ id: z.guid() });

/** Creates an empty conversation. */
export const createConversationTool = defineTool({
  name: "create_conversation",
  title: "Create a conversation",
  description: "Creates an empty conversation for you. Add messages with add_message. A " +
    "task with this id as conversation_id in its metadata adds its output when it completes.",
  version: "1",
  scopes: CATALOG_SCOPES.writeConversations,
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  input: z.strictObject({ title: z.string().trim().min(1).max(MAX_TITLE_CHARACTERS) }),
  output: z.object({ id: z.string().describe("The conversationId for the other tools") }),
  run: ({ title }, context) =>
    queryAsUser(context, { access: "write", action: "create the conversation" }, async (sql) => {
      const [row] = await sql`select private.create_conversation(${title}) as id`;
      return createdSchema.parse(row);
    }),
});
