import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { FileServer } from "./file_server.ts";
import { addFilesTool } from "../files/add_files_tool.ts";

const FILES_SECRET = "DEMO_FILES_KEY";
/** The name of the scripted model's key in Vault; real providers have their own. */
const MODEL_SECRET = "DEMO_MODEL_KEY";

/** Registers the MCP server as the tool `files` of planner and reader. Only Vault has its key. */
export async function registerFileServer(sql: Sql, server: FileServer): Promise<void> {
  await sql`select vault.create_secret(${server.apiKey}, ${FILES_SECRET})`;
  await addFilesTool(sql, {
    description: "Reads the files of one folder.",
    config: { mcp_url: server.url, auth: { in: "header", name: server.keyHeader } },
    secretName: FILES_SECRET,
  });
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
