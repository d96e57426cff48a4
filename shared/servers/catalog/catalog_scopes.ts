/** Scopes of the catalog's tools; the default grant of signed-in users includes them. */
export const CATALOG_SCOPES = {
  generate: ["chat:write"],
  readConversations: ["chat:read"],
  writeConversations: ["conv:write"],
  readRulesets: ["ruleset:read"],
  writeRulesets: ["ruleset:write"],
} as const;
