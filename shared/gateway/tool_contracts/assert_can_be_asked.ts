import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { asJsonObject, type JsonObject } from "../../platform/values/json.ts";

/** The capability that answers a request's method. */
const CAPABILITIES: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/**
 * Refuses a request that the caller's program has not declared to support.
 *
 * @throws TOOL_ASKS_MORE with `details.required_capabilities`, as defined by the protocol.
 */
export function assertCanBeAsked(
  { inputRequests }: { readonly inputRequests: JsonObject },
  capabilities: JsonObject,
): void {
  const wanted = Object.values(inputRequests).map((request) => {
    const { method } = asJsonObject(request);
    const capability = CAPABILITIES[String(method)];
    if (capability === undefined) {
      throw new Error(`Cannot ask the caller: ${method} is not a known request`);
    }
    return capability;
  });
  const missing = wanted.filter((capability) => capabilities[capability] === undefined);
  if (missing.length > 0) throw asksMore(Object.fromEntries(missing.map((name) => [name, {}])));
}

/** Creates the error for a caller that lacks the required capabilities. */
export function asksMore(requiredCapabilities: JsonObject): SwarmError {
  const names = Object.keys(requiredCapabilities).join(" and ");
  return new SwarmError(
    "TOOL_ASKS_MORE",
    `Cannot ask the caller for input: its program has not declared ${names}`,
    {
      hint: "Call it from a client that supports the protocol version 2026-07-28 and can answer.",
      details: { required_capabilities: requiredCapabilities },
    },
  );
}
