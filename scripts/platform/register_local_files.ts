import { createSql } from "../../shared/platform/db/sql_client.ts";
import { FILE_SERVER_KEY_HEADER, type LocalFileServer } from "../files/local_file_server.ts";
import { storeSecret } from "./store_secret.ts";
import { addFilesTool, giveFilesTool } from "../files/add_files_tool.ts";

/** The name of the file server's key in Vault. It also marks the row of `tools` as created here. */
const KEY_SECRET = "LOCAL_FILES_KEY";

/**
 * Registers the file server as the tool `files` and stores its key only in Vault. The first call
 * gives the tool to `planner` and `reader`, and its scope to signed-in users. Later starts update
 * the address, and give the tool again only if no agent has it, so that an operator's changes stay.
 * Does not change a tool `files` that an operator registered.
 */
export async function registerLocalFiles(
  dbUrl: string,
  server: Pick<LocalFileServer, "url" | "apiKey">,
): Promise<void> {
  const sql = createSql(dbUrl, { maxConnections: 1, applicationName: "supaswarm start" });
  try {
    await storeSecret(sql, { name: KEY_SECRET, value: server.apiKey });
    const [known] = await sql`select from public.tools where slug = 'files'`;
    const config = { mcp_url: server.url, auth: { in: "header", name: FILE_SERVER_KEY_HEADER } };
    if (known === undefined) {
      return await addFilesTool(sql, {
        description: "Reads the text files of one folder of this machine.",
        config,
        secretName: KEY_SECRET,
      });
    }
    const { count } = await sql`
      update public.tools set config = ${sql.json(config)}
      where slug = 'files' and credential_secret_name = ${KEY_SECRET}`;
    if (count > 0) await giveFilesTool(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
