import type { Sql } from "../../shared/db/sql_client.ts";
import type { FileServer } from "./file_server.ts";

/** The name of the file server's key in Vault. */
const FILES_SECRET = "DEMO_FILES_KEY";
/** The name of the scripted model's key in Vault; real providers have their own. */
const MODEL_SECRET = "DEMO_MODEL_KEY";

/** Registers the MCP server as the tool `files` of planner and reader. Only Vault has its key. */
export async function registerFileServer(sql: Sql, server: FileServer): Promise<void> {
  await sql`select vault.create_secret(${server.apiKey}, ${FILES_SECRET})`;
  await sql`
    insert into public.tools (name, slug, type, description, config, credential_secret_name, credential_type)
    values (
      'Files', 'files', 'mcp_server', 'Reads the files of one folder.',
      ${sql.json({ mcp_url: server.url, auth: { in: "header", name: server.keyHeader } })},
      ${FILES_SECRET}, 'api_key'
    )`;
  await sql`
    insert into public.agent_tools (agent_id, tool_id, allowed_tools)
    select agent.id, tool.id, case agent.slug
      when 'planner' then array['list_directory'] else array['read_text_file'] end
    from public.agents as agent
    cross join public.tools as tool
    where agent.slug in ('planner', 'reader') and tool.slug = 'files'`;
  // The agents act for users, who also need the server's scope.
  await sql`select public.grant_scopes(null, '{mcp:files}')`;
}

/** Gives the scripted model a key, so that the system handles it like a real one. */
export async function giveModelKey(sql: Sql): Promise<string> {
  const key = `demo-model-${crypto.randomUUID()}`;
  await sql`select vault.create_secret(${key}, ${MODEL_SECRET})`;
  await sql`update public.llm_providers set api_key_secret_name = ${MODEL_SECRET} where name = 'demo'`;
  return key;
}

/** Switches planner and reader from the scripted provider to another one. */
export async function useProvider(sql: Sql, provider: string): Promise<void> {
  await sql`
    update public.agents as agent
    set provider_id = provider.id
    from public.llm_providers as provider
    where provider.name = ${provider} and agent.slug in ('planner', 'reader')`;
}
