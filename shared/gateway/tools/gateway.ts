import type { Sql } from "../../platform/db/sql_client.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { type CallModel, createModelCaller } from "../../models/llm/call_model.ts";
import { createModelAdapter } from "../../models/llm/create_model_adapter.ts";
import { createModelKeyResolver } from "../../models/llm/resolve_model_key.ts";
import { createSerialQueue } from "../../platform/values/serial_queue.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { createGuardedFetch } from "../../platform/net/guarded_fetch.ts";
import type { ResolveHost } from "../../platform/net/url_policy.ts";
import { createRedactor } from "../../platform/secrets/redact.ts";
import { createInternalServerLoader } from "./kinds/internal/internal_server_loader.ts";
import type { InternalServers } from "../tool_contracts/internal_server.ts";
import { callTool } from "./call_tool.ts";
import { listAgentTools } from "./listing/list_agent_tools.ts";
import { listServerTools } from "./listing/list_server_tools.ts";
import { listCallableServers } from "./listing/list_servers.ts";
import { prepareCall } from "./prepare_call.ts";
import { relay } from "./relay.ts";
import type { ToolGateway } from "../tool_contracts/tool_gateway.ts";
import { createToolStore } from "./sql_tool_store.ts";
import { listDraft, tryDraft } from "./try_draft.ts";

/** The dependencies of the gateway. */
export interface ToolGatewayPorts {
  /** Connected as role postgres. */
  readonly sql: Sql;
  readonly internalServers: InternalServers;
  /** Address of the project, without a trailing slash. */
  readonly supabaseUrl: string;
  /** The project as browsers reach it. @default supabaseUrl */
  readonly publicUrl?: string;
  /** A secret API key of the project, for its own edge functions and Storage. */
  readonly secretKey: string;
  /**
   * All secret keys of the project; an agent's request must not contain any of them. @default
   * secretKey
   */
  readonly secretKeys?: readonly string[];
  /** See `SUPASWARM_ALLOW_LOOPBACK`. */
  readonly allowLoopback: boolean;
  readonly log: Logger;
  /** How tools call models. @default the product's model port with guarded addresses */
  readonly callModel?: CallModel;
  /** @default the system's resolver */
  readonly resolveHost?: ResolveHost;
  /** Receives listings that continue after the response. @default none */
  readonly keepAlive?: (work: Promise<unknown>) => void;
}

/** A list that takes longer mostly waits for its server. */
const LISTING_PATIENCE_MS = 1_000;

/**
 * Creates the gateway, which finds and executes tools of every type. Connections and imports happen
 * on first use.
 */
export function createToolGateway(ports: ToolGatewayPorts): ToolGateway {
  const {
    sql,
    internalServers,
    supabaseUrl,
    publicUrl = supabaseUrl,
    secretKey,
    secretKeys = [secretKey],
    allowLoopback,
    log,
    resolveHost,
    keepAlive,
  } = ports;
  const guardedFetch = createGuardedFetch({ allowLoopback, ...definedOnly({ resolveHost }) });
  const serverPorts = {
    sql,
    supabaseUrl,
    publicUrl,
    secretKey,
    secretKeys,
    redactor: createRedactor([secretKey]),
    log,
    keepAlive: keepAlive ?? (() => {}),
    listings: createSerialQueue(LISTING_PATIENCE_MS),
    store: createToolStore(sql),
    loadInternalServer: createInternalServerLoader(internalServers),
    guardedFetch,
    callModel: ports.callModel ?? createModelCaller({
      resolveKey: createModelKeyResolver(sql),
      createAdapter: (endpoint) => createModelAdapter(endpoint, { fetch: guardedFetch }),
    }),
  };
  return {
    listAgentTools: (caller, signal) => listAgentTools(caller, serverPorts, signal),
    listServers: (caller) => listCallableServers(caller, serverPorts),
    listServerTools: (server, caller, options, signal) =>
      listServerTools(server, caller, options, serverPorts, signal),
    findConnection: (connectionId, caller) =>
      serverPorts.store.connectionServer(connectionId, caller),
    call: (request, signal) => callTool(request, serverPorts, signal),
    tryCall: (draft, request, signal) => tryDraft(draft, request, serverPorts, signal),
    listDraft: (draft, target, signal) => listDraft(draft, target, serverPorts, signal),
    prepare: (target) => prepareCall(target, serverPorts),
    relay: (request, signal) => relay(request, serverPorts, signal),
  };
}
