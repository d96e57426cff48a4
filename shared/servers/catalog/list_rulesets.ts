import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { CATALOG_SCOPES } from "./catalog_scopes.ts";
import { queryAsUser } from "./query_as_user.ts";

const MAX_RULESETS = 1_000;
const listedSchema = z.object({ id: z.string(), name: z.string(), version: z.int() });

/** Lists the rulesets that the caller can use. */
export const listRulesetsTool = defineTool({
  name: "list_rulesets",
  title: "List rulesets",
  description: "Lists your rulesets and the shared ones, by name; at most " +
    `${MAX_RULESETS}. get_ruleset shows the content of one.`,
  version: "1",
  scopes: CATALOG_SCOPES.readRulesets,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({}),
  output: z.object({ rulesets: z.array(listedSchema) }),
  async run(_args, context) {
    const query = { access: "read", action: "list the rulesets", servesService: true } as const;
    const rows = await queryAsUser(context, query, (sql) =>
      sql`
      select id, name, version
      from public.rulesets
      where version > 0
      order by name, id
      limit ${MAX_RULESETS}`);
    return { rulesets: z.array(listedSchema).parse([...rows]) };
  },
});
