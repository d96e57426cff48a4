import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";

/** The connection of a transaction. */
type Transaction = Parameters<Parameters<Sql["begin"]>[1]>[0];

/** A file server as a row of `tools`. */
export interface FilesTool {
  readonly description: string;
  readonly config: JsonObject;
  /** Name of the server's key in Vault. */
  readonly secretName: string;
}

/**
 * Gives the tool `files` to the seeded agents `planner` and `reader`, unless an agent has it. Their
 * files do not name it, so a push takes it away.
 */
export async function giveFilesTool(sql: Sql | Transaction): Promise<void> {
  await sql`
    insert into public.agent_tools (agent_id, tool_id, allowed_tools)
    select agent.id, tool.id, case agent.slug
      when 'planner' then array['list_directory'] else array['read_text_file'] end
    from public.agents as agent
    cross join public.tools as tool
    where agent.slug in ('planner', 'reader') and tool.slug = 'files'
      and not exists (select from public.agent_tools as given where given.tool_id = tool.id)`;
}

/** Registers a file server as the tool `files` of the seeded agents `planner` and `reader`. */
export async function addFilesTool(
  sql: Sql,
  { description, config, secretName }: FilesTool,
): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`
      insert into public.tools
        (name, slug, type, description, config, credential_secret_name, credential_type, audience)
      values (
        'Files', 'files', 'mcp_server', ${description}, ${transaction.json(config)}, ${secretName},
        'api_key', 'everyone'
      )`;
    await giveFilesTool(transaction);
  });
}
