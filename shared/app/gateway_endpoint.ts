import type { Config } from "../platform/config/env.ts";
import { createAgentDirectory } from "../platform/db/agent_directory.ts";
import { createSessionCheck } from "../platform/db/session_check.ts";
import { authenticate, type Caller } from "../platform/http/authenticate.ts";
import type { HttpOptions } from "../platform/http/http_handler.ts";
import { openIsolatePool } from "../platform/isolate/isolate_pool.ts";
import { createRequestGate } from "../platform/isolate/request_gate.ts";
import { runInBackground } from "../platform/isolate/run_in_background.ts";
import type { Logger } from "../platform/log/logger.ts";
import type { ToolGateway } from "../gateway/tool_contracts/tool_gateway.ts";
import type { App } from "./app.ts";
import { createAppGateway } from "./create_app_gateway.ts";
import { INTERNAL_SERVERS } from "./internal_servers.ts";
import { createReleaseCheck } from "./release_check.ts";
import type { Sql } from "../platform/db/sql_client.ts";
import { toSwarmError } from "../platform/db/to_swarm_error.ts";
import type { InternalServers } from "../gateway/tool_contracts/internal_server.ts";

/** The gateway as an edge function serves it, over MCP or plain JSON. */
export interface GatewayEndpoint extends Pick<App, "close"> {
  readonly gateway: ToolGateway;
  readonly handling: Pick<HttpOptions, "log" | "gate" | "ready">;
  /** Everyone who may call tools. */
  authenticate(request: Request): Promise<Caller>;
  registerServers(): Promise<void>;
  /** Called after an answer, so that it does not slow down the first request. */
  checkSession(): void;
}

/** Opens the gateway for a function, with its pool. */
export function openGatewayEndpoint(name: string, config: Config, log: Logger): GatewayEndpoint {
  const sql = openIsolatePool(config.databaseUrl, name, ["caller", "caller"]);
  const agents = createAgentDirectory(sql);
  const checkSession = createSessionCheck(sql);
  return {
    gateway: createAppGateway({ config, sql, log, keepAlive: runInBackground }),
    handling: { log, gate: createRequestGate(config.cpu), ready: createReleaseCheck(sql, log) },
    authenticate: (request) =>
      authenticate(request, config.apiKeys, ["user", "service", "agent"], agents),
    registerServers: createServerRegistrar(sql, INTERNAL_SERVERS),
    checkSession: () => runInBackground(checkSession()),
    close: () => sql.end({ timeout: 1 }),
  };
}

/**
 * Creates the function that adds a row in `tools` for each folder of `shared/servers`, once per
 * isolate. Existing rows stay unchanged, and only servers without a row are loaded.
 */
function createServerRegistrar(sql: Sql, servers: InternalServers): () => Promise<void> {
  let registered: Promise<void> | null = null;

  return () => {
    registered ??= register().catch((error) => {
      registered = null;
      throw toSwarmError(error, "register the internal tool servers");
    });
    return registered;
  };

  async function register(): Promise<void> {
    const names = Object.keys(servers);
    const [row] = await sql<{ missing: string[] }[]>`
      select private.unregistered_servers(${sql.json(names)}) as missing`;
    const missing = row?.missing ?? [];
    if (missing.length === 0) return;
    const described = await Promise.all(missing.map(describe));
    await sql`select private.register_servers(${sql.json(described)})`;
  }

  async function describe(slug: string) {
    const server = await servers[slug]?.();
    return { slug, name: server?.title ?? slug, description: server?.description ?? null };
  }
}
