import { definedOnly } from "../../platform/values/defined_only.ts";
import { asJsonObject, type JsonObject } from "../../platform/values/json.ts";
import type { InputOffer } from "../tool_contracts/tool_call.ts";
import type { ServerContext } from "../../vendor/mcp_server.js";

const CLIENT_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

/**
 * The input that a message's client can provide, and its answers. Only the stateless protocol can
 * request input within a call, so a client of the earlier one offers nothing.
 */
export function inputOffer(
  { envelope, inputResponses, requestState }: Pick<
    ServerContext["mcpReq"],
    "envelope" | "inputResponses" | "requestState"
  >,
): InputOffer {
  const declared = asJsonObject(
    asJsonObject(envelope as JsonObject | undefined)[CLIENT_CAPABILITIES_KEY],
  );
  const state = requestState();
  const capabilities = Object.fromEntries(
    ["elicitation", "sampling", "roots"]
      .filter((name) => declared[name] !== undefined)
      .map((name) => [name, declared[name] ?? {}]),
  );
  return {
    capabilities,
    ...definedOnly({ responses: inputResponses as JsonObject | undefined }),
    ...(typeof state === "string" ? { state } : {}),
  };
}
