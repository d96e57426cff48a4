/** What the tools of the catalog need, as the default grant of signed-in users has it. */
export const CATALOG_SCOPES = {
  generate: ["chat:write"],
  readConversations: ["chat:read"],
  writeConversations: ["conv:write"],
  readRulesets: ["ruleset:read"],
  writeRulesets: ["ruleset:write"],
} as const;
