import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { nearestNames } from "../../platform/values/nearest_names.ts";
import type { ToolCaller } from "../tool_contracts/tool_caller.ts";
import type { ToolGateway } from "../tool_contracts/tool_gateway.ts";
import { unknownServer } from "../tool_contracts/unknown_server.ts";

/** The caller and the requested server. */
export interface AskedServer {
  readonly server: string;
  readonly gateway: Pick<ToolGateway, "listServers">;
  readonly caller: ToolCaller;
}

/** The error; for a server that does not exist, with similar names among the caller's servers. */
export async function nameNearestServers(
  error: SwarmError,
  { server, gateway, caller }: AskedServer,
): Promise<SwarmError> {
  // A server can also lack the tool, even if the caller's list omits it because it lost all of them.
  if (error.message !== unknownServer(server).message) return error;
  const slugs = (await gateway.listServers(caller)).map(({ slug }) => slug);
  const nearest = nearestNames(server, slugs);
  const known = nearest.length > 0 ? nearest : slugs.slice(0, 20);
  if (known.length === 0) return error;
  return new SwarmError(error.code, error.message, {
    cause: error,
    hint: `Your servers: ${known.join(", ")}.`,
    ...definedOnly({ details: error.details }),
  });
}
