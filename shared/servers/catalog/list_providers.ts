import { defineTool } from "../../gateway/tool_contracts/internal_server.ts";
import { z } from "../../vendor/zod.js";
import { queryAsUser } from "./query_as_user.ts";

const providerSchema = z.object({
  key: z.string().describe("llm_providers.name"),
  label: z.string(),
});

/** Lists the model providers of the project. */
export const listProvidersTool = defineTool({
  name: "list_providers",
  title: "List model providers",
  description: "Lists the project's active model providers by the key that tools accept.",
  version: "1",
  scopes: [],
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({}),
  output: z.object({ providers: z.array(providerSchema) }),
  async run(_args, context) {
    const query = { access: "read", action: "list the providers", servesService: true } as const;
    const rows = await queryAsUser(context, query, (sql) =>
      sql`
      select name as key, display_name as label
      from public.llm_providers
      where is_active
      order by display_name, name`);
    return { providers: z.array(providerSchema).parse([...rows]) };
  },
});
