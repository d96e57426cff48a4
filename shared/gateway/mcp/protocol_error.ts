import type { SwarmError } from "../../platform/errors/swarm_error.ts";
import { asJsonObject, type JsonObject } from "../../platform/values/json.ts";
import type { McpSdk } from "./exchange.ts";
import { withHint } from "../../platform/errors/with_hint.ts";

/** Converts an error of the product to a protocol error, for requests without an error result. */
export function toProtocolError(sdk: McpSdk, error: SwarmError, params: JsonObject = {}): Error {
  if (error.code === "RESOURCE_NOT_FOUND" && typeof params.uri === "string") {
    return new sdk.ResourceNotFoundError(params.uri);
  }
  if (error.code === "TOOL_ASKS_MORE") {
    const { required_capabilities: required } = asJsonObject(error.details);
    const requiredCapabilities = asJsonObject(required);
    return new sdk.MissingRequiredClientCapabilityError({ requiredCapabilities }, error.message);
  }
  const { InvalidParams, InternalError } = sdk.ProtocolErrorCode;
  const { code, message, hint } = error.toBody();
  const text = withHint(message, hint);
  return new sdk.ProtocolError(error.status < 500 ? InvalidParams : InternalError, text, { code });
}
