import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { CATALOG_SCOPES } from "./catalog_scopes.ts";
import { queryAsUser } from "./query_as_user.ts";
import { readRuleset, storedRuleset } from "./read_ruleset.ts";

/** Shows a ruleset. */
export const getRulesetTool = defineTool({
  name: "get_ruleset",
  title: "Get a ruleset",
  description:
    "Shows one of your rulesets, or a shared one, with the content of its newest version.",
  version: "1",
  scopes: CATALOG_SCOPES.readRulesets,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({ id: z.guid() }),
  output: storedRuleset,
  run: ({ id }, context) =>
    queryAsUser(
      context,
      { access: "read", action: "read the ruleset", servesService: true },
      (sql) => readRuleset(sql, id, context.caller.userId),
    ),
});
