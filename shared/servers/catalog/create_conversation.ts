import { defineTool } from "../../tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { CATALOG_SCOPES } from "./catalog_scopes.ts";
import { queryAsUser } from "./query_as_user.ts";

const MAX_TITLE_CHARACTERS = 200;
const createdSchema = z.object({ id: z.guid() });

/** Creates an empty conversation. */
export const createConversationTool = defineTool({
  name: "create_conversation",
  title: "Create a conversation",
  description: "Creates an empty conversation of yours. Add messages to it with add_message; a " +
    "task whose metadata names it as conversation_id adds its output when it completes.",
  version: "1",
  scopes: CATALOG_SCOPES.writeConversations,
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  input: z.strictObject({ title: z.string().trim().min(1).max(MAX_TITLE_CHARACTERS) }),
  output: z.object({ id: z.string().describe("What the other tools take as conversationId") }),
  run: ({ title }, context) =>
    queryAsUser(context, { access: "write", action: "create the conversation" }, async (sql) => {
      const [row] = await sql`select private.create_conversation(${title}) as id`;
      return createdSchema.parse(row);
    }),
});
