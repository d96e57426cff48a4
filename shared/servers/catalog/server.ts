import type { InternalServer } from "../../gateway/tool_contracts/internal_server.ts";
import { addMessageTool } from "./add_message.ts";
import { createConversationTool } from "./create_conversation.ts";
import { deleteConversationTool } from "./delete_conversation.ts";
import { draftVariationsTool } from "./draft_variations.ts";
import { enhancePromptTool } from "./enhance_prompt.ts";
import { exportConversationTool } from "./export_conversation.ts";
import { getRulesetTool } from "./get_ruleset.ts";
import { listMessagesTool } from "./list_messages.ts";
import { listProvidersTool } from "./list_providers.ts";
import { listRulesetsTool } from "./list_rulesets.ts";
import { logAuthEventTool } from "./log_auth_event.ts";
import { saveRulesetTool } from "./save_ruleset.ts";
import { validatePromptTool } from "./validate_prompt.ts";

/** Prompts, conversations and rulesets for a chat page, as versioned tools. */
export const catalogServer: InternalServer = {
  name: "catalog",
  title: "Tool catalog",
  description: "Improves and checks prompts, and keeps conversations and rulesets.",
  instructions: "Conversations and rulesets are the signed-in user's own. Send a clientMessageId " +
    "to add_message, and to save_ruleset the version that you have read as ifMatchVersion.",
  tools: [
    enhancePromptTool,
    draftVariationsTool,
    validatePromptTool,
    createConversationTool,
    addMessageTool,
    listMessagesTool,
    deleteConversationTool,
    exportConversationTool,
    listRulesetsTool,
    getRulesetTool,
    saveRulesetTool,
    listProvidersTool,
    logAuthEventTool,
  ],
};
