import type { Sql } from "../../../platform/db/sql_client.ts";
import type { CallModel } from "../../../models/llm/call_model.ts";
import type { SerialQueue } from "../../../platform/values/serial_queue.ts";
import type { Logger } from "../../../platform/log/logger.ts";
import { toStorableState } from "../../tool_contracts/connection_state.ts";
import { openMcpServer } from "./mcp/mcp_server.ts";
import { openInternalServer } from "./internal/open_internal_server.ts";
import { createAgentFetch } from "../../../platform/net/agent_fetch.ts";
import { createRedactor, type Redactor } from "../../../platform/secrets/redact.ts";
import { actorOfCall } from "../../tool_contracts/tool_caller.ts";
import { allowOnly } from "./mcp/allow_only.ts";
import type { Credential } from "../../tool_contracts/credential.ts";
import { openDatabaseFunction } from "./database/database_function_server.ts";
import { openEdgeFunction } from "./edge/edge_function_server.ts";
import { resolveExtraSecrets } from "../credentials/extra_secrets.ts";
import type { LoadInternalServer } from "./internal/internal_server_loader.ts";
import { issueToolToken } from "./edge/issue_tool_token.ts";
import { openHttpApi } from "./http/http_api_server.ts";
import { renewCredential, resolveCredential } from "../credentials/resolve_credential.ts";
import { parseToolConfig, type ToolConfig } from "../../tool_contracts/tool_config.ts";
import type { ToolCaller } from "../../tool_contracts/tool_caller.ts";
import type { ToolServer } from "../../tool_contracts/tool_server.ts";
import type { CallRecord, RegisteredServer } from "../../tool_contracts/tool_records.ts";
import type { SecretSource, ToolStore } from "../../tool_contracts/tool_store.ts";
import { withRenewal } from "../credentials/with_renewal.ts";

/** A call's timeout if neither a policy nor the tool's config sets one. */
const DEFAULT_TIMEOUT_MS = 60_000;

/** The dependencies for opening tool servers. */
export interface ToolServerPorts {
  readonly sql: Sql;
  readonly store: ToolStore;
  readonly loadInternalServer: LoadInternalServer;
  /** A `fetch` that refuses private addresses. */
  readonly guardedFetch: typeof fetch;
  /** How internal tools call models. */
  readonly callModel: CallModel;
  readonly supabaseUrl: string;
  readonly publicUrl: string;
  readonly secretKey: string;
  /** The project's secret keys; an agent's request must not contain any of them. */
  readonly secretKeys: readonly string[];
  /** Redacts the project's own key, which any call can encounter. */
  readonly redactor: Redactor;
  readonly log: Logger;
  /** Receives work that continues after the response. */
  readonly keepAlive: (work: Promise<unknown>) => void;
  /** Lists are read in turn: side by side, none might be ready before the isolate's CPU is used up. */
  readonly listings: SerialQueue;
}

/** An opened server, with the redactor for its output. */
export interface OpenedServer {
  readonly server: ToolServer;
  /** Redacts all secrets of the operation so far; a token may be renewed during it. */
  redactor(): Redactor;
  /** Timeout of one call, including its retries. */
  readonly timeoutMs: number;
  /** True if it is another machine, whose health is tracked. */
  readonly isRemote: boolean;
}

interface OpenOptions {
  readonly userId: string | null;
  /** The caller; an agent's requests are marked. @default none: tools are only listed */
  readonly caller?: ToolCaller;
  /** Overrides the config's timeout. */
  readonly timeoutMs: number | null;
  /** Shortens whichever timeout is longer. */
  readonly maxTimeoutMs?: number;
  /** The secrets read with the call. @default read now */
  readonly secrets?: CallRecord["secrets"];
}

/**
 * Opens the server of a registry row for a caller: checks the config, resolves the credential and
 * picks the implementation of the type. Nothing is sent yet.
 *
 * @throws SwarmError `TOOL_CONFIG_INVALID`, `SECRET_NOT_FOUND`, `CREDENTIAL_REQUIRED`,
 * `AUTHORIZATION_REQUIRED`.
 */
export async function openToolServer(
  registered: Pick<RegisteredServer, "tool" | "connection">,
  options: OpenOptions,
  ports: ToolServerPorts,
): Promise<OpenedServer> {
  const { tool } = registered;
  const parsed = parseToolConfig(tool.slug, tool.type, tool.config);
  const use = {
    toolId: tool.id,
    userId: options.userId,
    // Listing is not a call: a credential for agents only also lists for callers that may see the
    // tools.
    isAgent: options.caller === undefined || actorOfCall(options.caller) === "agent",
  };
  const source = options.secrets ? readAlready(options.secrets) : ports.store;
  const credential = await resolveCredential(tool, parsed, use, { ...ports, source });
  const timeoutMs = Math.min(
    options.timeoutMs ?? parsed.config.timeout_ms ?? DEFAULT_TIMEOUT_MS,
    options.maxTimeoutMs ?? Infinity,
  );
  const extraSecrets = await resolveExtraSecrets(parsed, use, source);
  const credentials = credential === null ? extraSecrets : [...extraSecrets, credential];
  const secrets = [ports.secretKey, ...credentials.map(({ secret }) => secret)];
  const addSecret = (secret: string) => void secrets.push(secret);
  const opening = { registered, credential, extraSecrets, timeoutMs, secrets, addSecret };
  const sending = { ...ports, guardedFetch: fetchFor(options.caller, ports) };
  const open = (credential: Credential | null) =>
    openParsed(parsed, { ...opening, credential }, sending);
  const server = withRenewal(await open(credential), credential, async (refused) => {
    const renewed = await renewCredential(tool.slug, refused, ports);
    secrets.push(renewed.secret);
    return await open(renewed);
  });
  const isRemote = parsed.type === "mcp_server" || parsed.type === "http_api" ||
    parsed.type === "edge_function";
  return { server, redactor: growingRedactor(secrets, ports.redactor), timeoutMs, isRemote };
}

/** An agent's requests are always marked as such. */
function fetchFor(caller: ToolCaller | undefined, ports: ToolServerPorts): typeof fetch {
  const { guardedFetch, secretKeys, supabaseUrl } = ports;
  if (caller === undefined || actorOfCall(caller) !== "agent") return guardedFetch;
  return createAgentFetch({
    taskId: caller.taskId,
    secretKeys,
    projectUrls: [supabaseUrl],
    fetch: guardedFetch,
  });
}

/** Creates a new redactor only if secrets were added. */
function growingRedactor(secrets: readonly string[], ofKeyAlone: Redactor): () => Redactor {
  let known = { count: 1, redactor: ofKeyAlone };
  return () => {
    if (secrets.length > known.count) {
      known = { count: secrets.length, redactor: createRedactor(secrets) };
    }
    return known.redactor;
  };
}

function readAlready({ credential, named }: NonNullable<CallRecord["secrets"]>): SecretSource {
  return {
    resolveCredential: () => Promise.resolve(credential),
    resolveNamedSecrets: () => Promise.resolve(named),
  };
}

interface Opening {
  readonly registered: Pick<RegisteredServer, "tool" | "connection">;
  readonly credential: Credential | null;
  readonly extraSecrets: readonly Credential[];
  readonly timeoutMs: number;
  readonly secrets: readonly string[];
  /** Adds a secret to redact from the server's output. */
  readonly addSecret: (secret: string) => void;
}

async function openParsed(
  parsed: ToolConfig,
  { registered: { tool, connection }, credential, extraSecrets, timeoutMs, secrets, addSecret }:
    Opening,
  ports: ToolServerPorts,
): Promise<ToolServer> {
  const { guardedFetch, sql, supabaseUrl, publicUrl, secretKey, log } = ports;
  const common = { slug: tool.slug, description: tool.description, credential };
  switch (parsed.type) {
    case "mcp_server": {
      const server = openMcpServer({
        ...common,
        config: parsed.config,
        extraSecrets,
        timeoutMs,
        state: connection,
        fetch: guardedFetch,
        saveState: async (state) => {
          try {
            const storable = await toStorableState(state, secrets);
            await ports.store.recordConnectionState(connection.id, storable);
          } catch (error) {
            // A failure here only costs the next call a handshake.
            log("warn", "tool.connection_not_saved", { error: String(error) });
          }
        },
      });
      return allowOnly(server, tool.slug, parsed.config.allowed_tools);
    }
    case "http_api":
      return openHttpApi({ ...common, config: parsed.config, fetch: guardedFetch });
    case "database_function":
      return openDatabaseFunction({ ...common, config: parsed.config, sql });
    case "edge_function":
      return openEdgeFunction({
        ...common,
        config: parsed.config,
        supabaseUrl,
        issueToken: async (call) => {
          const token = await issueToolToken(sql, tool.slug, call);
          addSecret(token);
          return token;
        },
      });
    case "internal": {
      const server = await ports.loadInternalServer(tool);
      if (server === null) {
        throw new Error("Cannot open the tool: a row of type internal has no internal server");
      }
      return openInternalServer({
        server,
        slug: tool.slug,
        sql,
        callModel: ports.callModel,
        supabaseUrl,
        publicUrl,
        secretKey,
        fetch: guardedFetch,
        log,
      });
    }
  }
}
