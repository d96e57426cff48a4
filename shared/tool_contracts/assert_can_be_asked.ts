import { SwarmError } from "../errors/swarm_error.ts";
import { asJsonObject, type JsonObject } from "../json.ts";

/** The capability that answers a request's method. */
const CAPABILITIES: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/**
 * Refuses to ask a caller what its program never said it can answer.
 *
 * @throws TOOL_ASKS_MORE with `details.required_capabilities`, as the protocol has them.
 */
export function assertCanBeAsked(
  { inputRequests }: { readonly inputRequests: JsonObject },
  capabilities: JsonObject,
): void {
  const wanted = Object.values(inputRequests).map((request) => {
    const { method } = asJsonObject(request);
    const capability = CAPABILITIES[String(method)];
    if (capability === undefined) throw new Error(`Nobody can be asked ${method}`);
    return capability;
  });
  const missing = wanted.filter((capability) => capabilities[capability] === undefined);
  if (missing.length > 0) throw asksMore(Object.fromEntries(missing.map((name) => [name, {}])));
}

/** The error for a caller that cannot be asked what has to be asked. */
export function asksMore(requiredCapabilities: JsonObject): SwarmError {
  const names = Object.keys(requiredCapabilities).join(" and ");
  return new SwarmError(
    "TOOL_ASKS_MORE",
    `The tool has to ask its caller, whose program has not declared ${names}`,
    {
      hint: "Call it from a client of the protocol of 2026-07-28 that can answer.",
      details: { required_capabilities: requiredCapabilities },
    },
  );
}
