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
import { createServerRegistrar } from "./register_internal_servers.ts";
import { createReleaseCheck } from "./release_check.ts";

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
