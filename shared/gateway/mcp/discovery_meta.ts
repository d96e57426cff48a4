import { isJsonObject, type JsonObject } from "../../platform/values/json.ts";
import type { JSONRPCMessage, Server, Transport } from "../../vendor/mcp_server.js";

/**
 * Adds entries to the `_meta` of `initialize` and `server/discover`. The SDK answers both itself,
 * so the outgoing answer is extended.
 */
export function addDiscoveryMeta(server: Server, meta: JsonObject): void {
  const connect = server.connect.bind(server);
  server.connect = (transport: Transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(withMeta(message, meta), options);
    return connect(transport);
  };
}

/** Only these two results describe the server's capabilities. */
function withMeta(message: JSONRPCMessage, meta: JsonObject): JSONRPCMessage {
  if (!("result" in message) || !("capabilities" in message.result)) return message;
  const { _meta: own } = message.result;
  const merged = { ...(isJsonObject(own) ? own : {}), ...meta };
  return { ...message, result: { ...message.result, _meta: merged } };
}
