import type { DemoUser } from "../../../scripts/demo/user_client.ts";
import { signUp } from "../../../scripts/demo/user_client.ts";
import type { Sql } from "../../../shared/platform/db/sql_client.ts";
import { userHeaders } from "../../e2e/create_task_endpoint.ts";
import { bootPlatform, type Platform, type PlatformOptions } from "../../e2e/platform.ts";
import { rawClient } from "./raw_message.ts";

/** A signed-up user as a client of the MCP endpoints. */
export interface McpUser {
  readonly id: string;
  readonly user: DemoUser;
  readonly headers: Readonly<Record<string, string>>;
  readonly send: ReturnType<typeof rawClient>;
}

/** A platform with the fixtures of its MCP tests. */
export interface McpPlatform extends Platform {
  readonly mcpUrl: string;
  /** Signs up a new user, whose address begins with the name. */
  addUser(name: string): Promise<McpUser>;
  /** The holder of a secret key. */
  readonly service: ReturnType<typeof rawClient>;
}

export async function bootMcpPlatform(options: PlatformOptions = {}): Promise<McpPlatform> {
  const platform = await bootPlatform(options);
  const { project, stack } = platform;
  return Object.assign(platform, {
    mcpUrl: `${project.apiUrl}/functions/v1/mcp`,
    service: rawClient(project.apiUrl, { apikey: stack.secretKey }),
    addUser: async (name: string) => {
      const user = await signUp(project, `${name}-${crypto.randomUUID()}`);
      const { data } = await user.client.auth.getUser();
      const headers = userHeaders(project, user);
      return { id: data.user?.id ?? "", user, headers, send: rawClient(project.apiUrl, headers) };
    },
  });
}

/** Grants a user these scopes outside tasks, for one or any of their clients. */
export async function grantScopes(
  sql: Sql,
  userId: string,
  scopes: readonly string[],
  clientId: string | null = null,
): Promise<void> {
  await sql`
    insert into public.mcp_grants (user_id, client_id, scopes)
    select ${userId}::uuid, ${clientId}::text, array(select jsonb_array_elements_text(${
    sql.json([...scopes])
  }))`;
}
