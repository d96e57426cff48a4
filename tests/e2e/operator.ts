import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";

/** A row of `llm_providers` as an operator writes it. */
export interface ProviderRow {
  readonly name: string;
  readonly baseUrl: string;
  /** Name of the key in Vault; without one the provider needs no key. */
  readonly secretName?: string;
}

/** Registers a provider with the chat completions API. */
export async function addProvider(sql: Sql, row: ProviderRow): Promise<void> {
  const { name, baseUrl, secretName = null } = row;
  await sql`
    insert into public.llm_providers
      (name, display_name, api, base_url, default_model, requires_api_key, api_key_secret_name)
    values (${name}, ${name}, 'openai', ${baseUrl}, 'some-model', ${secretName !== null},
      ${secretName})`;
}

/** A tool that an agent may use; without `allowed` every tool of its server. */
export interface ToolGrant {
  readonly id: string;
  readonly allowed?: readonly string[];
}

/** A row of `agents`; its model is named after its slug, so that a script can play it. */
export interface AgentRow {
  readonly slug: string;
  /** @default the provider of the scripted models */
  readonly provider?: string;
  readonly tools?: readonly ToolGrant[];
}

/** Registers an agent with its tools. */
export async function addAgent(sql: Sql, row: AgentRow): Promise<void> {
  const { slug, provider = "demo", tools = [] } = row;
  await sql`
    insert into public.agents (name, slug, system_prompt, model, provider_id)
    values (${slug}, ${slug}, 'You are a test.', ${slug},
      (select id from public.llm_providers where name = ${provider}))`;
  for (const { id, allowed = null } of tools) {
    await sql`
      insert into public.agent_tools (agent_id, tool_id, allowed_tools)
      select agent.id, ${id}::uuid, (
        select array_agg(item.name) from jsonb_array_elements_text(
          ${allowed === null ? null : sql.json([...allowed])}::jsonb) as item (name)
      )
      from public.agents as agent where agent.slug = ${slug}`;
  }
}

/** A row of `tools`; `secret` is stored in Vault under its name, unless it has no value. */
export interface ToolRow {
  readonly slug: string;
  readonly type: "internal" | "mcp_server" | "http_api" | "supabase_rpc";
  readonly config: JsonObject;
  readonly secret?: { readonly name: string; readonly value?: string };
}

/** Registers a tool and returns its id. */
export async function addTool(sql: Sql, row: ToolRow): Promise<string> {
  const { slug, type, config, secret } = row;
  if (secret?.value !== undefined) {
    await sql`select vault.create_secret(${secret.value}, ${secret.name})`;
  }
  const [created] = await sql<{ id: string }[]>`
    insert into public.tools (name, slug, type, config, credential_secret_name, credential_type)
    values (${slug}, ${slug}, ${type}, ${sql.json(config)}, ${secret?.name ?? null},
      ${secret === undefined ? null : "api_key"})
    returning id`;
  if (created === undefined) throw new Error("No tool was created");
  return created.id;
}

/** The id of a registered tool, such as a seeded internal server. */
export async function toolId(sql: Sql, slug: string): Promise<string> {
  const [tool] = await sql<{ id: string }[]>`select id from public.tools where slug = ${slug}`;
  if (tool === undefined) throw new Error(`Tool ${slug} not found`);
  return tool.id;
}

/** Allows every user's tasks to use these tools: grants everyone the scopes of their servers. */
export async function grantToEveryone(sql: Sql, toolIds: readonly string[]): Promise<void> {
  await grantToUser(sql, null, toolIds);
}

/** Adds the scopes of these tools' servers to those of a user, or of everyone for null. */
export async function grantToUser(
  sql: Sql,
  userId: string | null,
  toolIds: readonly string[],
): Promise<void> {
  await sql`
    select public.grant_scopes(${userId}::uuid, array_agg('mcp:' || tool.slug))
    from public.tools as tool
    where tool.id in (
      select item.id::uuid from jsonb_array_elements_text(${sql.json([...toolIds])}) as item (id)
    )
    having count(*) > 0`;
}
