import { createSql, type Sql } from "../../shared/db/sql_client.ts";
import { FILE_SERVER_KEY_HEADER, type LocalFileServer } from "../files/local_file_server.ts";
import { storeSecret } from "./store_secret.ts";

/** The name of the file server's key in Vault. It also marks the row of `tools` as created here. */
const KEY_SECRET = "LOCAL_FILES_KEY";

/**
 * Registers the file server as the tool `files` and stores its key only in Vault. The first call
 * gives the tool to `planner` and `reader`, and its scope to signed-in users. Later starts update
 * only the address, so that an operator's changes stay. Does not change a tool `files` that an
 * operator registered.
 */
export async function registerLocalFiles(
  dbUrl: string,
  server: Pick<LocalFileServer, "url" | "apiKey">,
): Promise<void> {
  const sql = createSql(dbUrl, { maxConnections: 1, applicationName: "supaswarm start" });
  try {
    await storeSecret(sql, { name: KEY_SECRET, value: server.apiKey });
    const [known] = await sql`select from public.tools where slug = 'files'`;
    const config = sql.json({
      mcp_url: server.url,
      auth: { in: "header", name: FILE_SERVER_KEY_HEADER },
    });
    if (known === undefined) return await addFiles(sql, config);
    await sql`
      update public.tools set config = ${config}
      where slug = 'files' and credential_secret_name = ${KEY_SECRET}`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function addFiles(sql: Sql, config: ReturnType<Sql["json"]>): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`
      insert into public.tools (name, slug, type, description, config, credential_secret_name, credential_type)
      values (
        'Files', 'files', 'mcp_server', 'Reads the text files of one folder of this machine.',
        ${config}, ${KEY_SECRET}, 'api_key'
      )`;
    await transaction`
      insert into public.agent_tools (agent_id, tool_id, allowed_tools)
      select agent.id, tool.id, case agent.slug
        when 'planner' then array['list_directory'] else array['read_text_file'] end
      from public.agents as agent
      cross join public.tools as tool
      where agent.slug in ('planner', 'reader') and tool.slug = 'files'`;
    // The agents act for users, who also need the server's scope.
    await transaction`select public.grant_scopes(null, '{mcp:files}')`;
  });
}
