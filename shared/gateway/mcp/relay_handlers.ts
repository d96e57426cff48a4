import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { asJsonObject, type JsonObject } from "../../platform/values/json.ts";
import type { RelayMethod } from "../tool_contracts/tool_gateway.ts";
import type { ServerFeatures } from "../tool_contracts/server_tools.ts";
import type { Server, ServerContext } from "../../vendor/mcp_server.js";
import type { Exchange, McpSdk } from "./exchange.ts";
import { inputOffer } from "./input_offer.ts";
import { toProtocolError } from "./protocol_error.ts";

/** Methods that are forwarded for a server with these features. */
export function relayedMethods(features: ServerFeatures): readonly RelayMethod[] {
  return [
    ...(features.hasResources
      ? ["resources/list", "resources/templates/list", "resources/read"] as const
      : []),
    ...(features.hasPrompts ? ["prompts/list", "prompts/get"] as const : []),
    ...(features.hasCompletions ? ["completion/complete"] as const : []),
  ];
}

/** Lets a server answer these methods by forwarding them through the gateway. */
export function registerRelays(
  sdk: McpSdk,
  server: Server,
  exchange: Exchange & { readonly server: string },
  methods: readonly RelayMethod[],
): void {
  for (const method of methods) {
    const handle = async (request: { readonly params?: unknown }, { mcpReq }: ServerContext) => {
      const params = withoutMeta(asJsonObject(request.params as JsonObject | undefined));
      const { server, caller } = exchange;
      const relayed = { server, caller, method, params, input: inputOffer(mcpReq) };
      try {
        return forThisCallerAlone(await exchange.gateway.relay(relayed, mcpReq.signal));
      } catch (error) {
        mcpReq.signal.throwIfAborted();
        throw error instanceof SwarmError ? toProtocolError(sdk, error, params) : error;
      }
    };
    // Each method has its own result type; the result is the server's own answer.
    server.setRequestHandler(method, handle as never);
  }
}

/**
 * Accepts subscriptions of the earlier protocol to existing resources. They are not announced as a
 * capability and never get a notification: there is no stream between requests.
 */
export function acceptSubscriptions(
  sdk: McpSdk,
  server: Server,
  exchange: Exchange & { readonly server: string },
): void {
  for (const method of ["resources/subscribe", "resources/unsubscribe"] as const) {
    const handle = async (request: { readonly params?: unknown }, { mcpReq }: ServerContext) => {
      const { uri = "" } = asJsonObject(request.params as JsonObject | undefined);
      const params = { uri };
      const relayed = {
        server: exchange.server,
        caller: exchange.caller,
        method: "resources/read" as const,
        params,
      };
      try {
        await exchange.gateway.relay(relayed, mcpReq.signal);
        return {};
      } catch (error) {
        mcpReq.signal.throwIfAborted();
        throw error instanceof SwarmError ? toProtocolError(sdk, error, params) : error;
      }
    };
    server.setRequestHandler(method, handle as never);
  }
}

/** A result that a server marks as publicly cacheable still depends on grants here. */
function forThisCallerAlone(result: JsonObject): JsonObject {
  return "cacheScope" in result ? { ...result, cacheScope: "private" } : result;
}

function withoutMeta({ _meta, ...params }: JsonObject): JsonObject {
  return params;
}
