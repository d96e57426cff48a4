import type { Sql } from "../db/sql_client.ts";
import type { Logger } from "../log/logger.ts";
import { toStorableState } from "../mcp/connection_state.ts";
import { openMcpServer } from "../mcp/mcp_server.ts";
import { INTERNAL_SERVERS } from "../mcp/servers/index.ts";
import { type Credential, placementOf } from "./credential.ts";
import { openDatabaseFunction } from "./database_function_server.ts";
import { openEdgeFunction } from "./edge_function_server.ts";
import { openHttpApi } from "./http_api_server.ts";
import { openInternalTools, unknownInternalServer } from "./internal_tools.ts";
import { parseToolConfig, type ToolConfig } from "./tool_config.ts";
import type { ToolServer } from "./tool_server.ts";
import type { RegisteredServer, ToolStore } from "./tool_store.ts";

/** A call's timeout where neither a policy nor the tool's config sets one. */
const DEFAULT_TIMEOUT_MS = 60_000;

/** What tool servers are opened with. */
export interface ToolServerPorts {
  readonly sql: Sql;
  readonly store: ToolStore;
  /** Guarded against private addresses. */
  readonly guardedFetch: typeof fetch;
  readonly supabaseUrl: string;
  readonly secretKey: string;
  readonly log: Logger;
}

/** An opened server with the secrets that nothing it says may repeat. */
export interface OpenedServer {
  readonly server: ToolServer;
  readonly secrets: readonly string[];
}

/** How a server is opened. */
export interface OpenOptions {
  readonly userId: string | null;
  /** Overrides the config's timeout. */
  readonly timeoutMs: number | null;
}

/**
 * Opens the server of a registry row for a caller: checks the config, resolves the credential and
 * picks the implementation of the type. Nothing is sent yet.
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID`, `SECRET_NOT_FOUND`.
 */
export async function openToolServer(
  { tool, connection }: RegisteredServer,
  options: OpenOptions,
  ports: ToolServerPorts,
): Promise<OpenedServer> {
  const parsed = parseToolConfig(tool.slug, tool.type, tool.config);
  const credential = await resolveCredential(tool, parsed, options.userId, ports.store);
  const timeoutMs = options.timeoutMs ?? parsed.config.timeout_ms ?? DEFAULT_TIMEOUT_MS;
  const common = { slug: tool.slug, description: tool.description, timeoutMs, credential };
  const server = await openParsed(parsed, common, connection, ports);
  return { server, secrets: secretsOf(credential, ports) };
}

function secretsOf(credential: Credential | null, { secretKey }: ToolServerPorts): string[] {
  return credential === null ? [secretKey] : [secretKey, credential.secret];
}

interface CommonOptions {
  readonly slug: string;
  readonly description: string | null;
  readonly timeoutMs: number;
  readonly credential: Credential | null;
}

async function openParsed(
  parsed: ToolConfig,
  common: CommonOptions,
  connection: RegisteredServer["connection"],
  ports: ToolServerPorts,
): Promise<ToolServer> {
  const { guardedFetch, sql, supabaseUrl, secretKey } = ports;
  switch (parsed.type) {
    case "mcp_server":
      return openMcpServer({
        ...common,
        config: parsed.config,
        state: connection,
        fetch: guardedFetch,
        saveState: async (state) => {
          try {
            const storable = toStorableState(state, secretsOf(common.credential, ports));
            await ports.store.saveConnectionState(connection.id, storable);
          } catch (error) {
            // Only costs the next call a handshake.
            ports.log("warn", "tool.connection_not_saved", { error: String(error) });
          }
        },
      });
    case "http_api":
      return openHttpApi({ ...common, config: parsed.config, fetch: guardedFetch });
    case "database_function":
      return openDatabaseFunction({ ...common, config: parsed.config, sql });
    case "edge_function":
      return openEdgeFunction({ ...common, config: parsed.config, supabaseUrl, secretKey });
    case "internal": {
      const load = INTERNAL_SERVERS[parsed.config.server];
      if (load === undefined) {
        throw unknownInternalServer(parsed.config.server, Object.keys(INTERNAL_SERVERS));
      }
      const context = { sql, supabaseUrl, secretKey };
      return openInternalTools({ ...common, server: await load(), context });
    }
  }
}

async function resolveCredential(
  tool: RegisteredServer["tool"],
  parsed: ToolConfig,
  userId: string | null,
  store: ToolStore,
): Promise<Credential | null> {
  if (tool.credential_type === "none") return null;
  const secret = await store.resolveSecret(tool.id, userId);
  if (secret === null) return null;
  const auth = "auth" in parsed.config ? parsed.config.auth : undefined;
  return {
    secret,
    secretName: tool.credential_secret_name ?? `the caller's own for '${tool.slug}'`,
    placement: placementOf(tool.credential_type, auth),
  };
}
