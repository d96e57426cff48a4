import type { Config } from "../platform/config/env.ts";
import type { ToolGateway } from "../gateway/tool_contracts/tool_gateway.ts";
import { createToolGateway, type ToolGatewayPorts } from "../gateway/tools/gateway.ts";
import { INTERNAL_SERVERS } from "./internal_servers.ts";
import { serviceKeyOf } from "./service_key.ts";

/** The dependencies of a function's gateway. */
export interface AppGatewayOptions
  extends Pick<ToolGatewayPorts, "sql" | "log" | "callModel" | "keepAlive"> {
  readonly config: Pick<Config, "apiKeys" | "allowLoopback" | "publicUrl">;
}

/** Creates the gateway with a function's settings and the internal servers. */
export function createAppGateway({ config, ...ports }: AppGatewayOptions): ToolGateway {
  const { apiKeys, allowLoopback, publicUrl } = config;
  return createToolGateway({
    ...ports,
    internalServers: INTERNAL_SERVERS,
    supabaseUrl: apiKeys.url,
    publicUrl,
    secretKey: serviceKeyOf(apiKeys.secretKeys),
    secretKeys: Object.values(apiKeys.secretKeys),
    allowLoopback,
  });
}
