import { SwarmError } from "../errors/swarm_error.ts";

/**
 * The server that a URL names: the segment after the function's own, null for all of them.
 *
 * @throws TOOL_NOT_FOUND for a longer path.
 * @throws QUERY_INVALID for any query: a misspelt restriction must not be ignored silently.
 */
export function serverOfUrl(url: URL, functionName: string): string | null {
  const [unknown] = url.searchParams.keys();
  if (unknown !== undefined) {
    throw new SwarmError("QUERY_INVALID", `There is no query parameter '${unknown}' here`, {
      hint: `Leave it out. A server is named in the path: /functions/v1/${functionName}/<server>.`,
    });
  }
  const segments = url.pathname.split("/").filter((segment) => segment !== "");
  const [server = null, ...rest] = segments.slice(segments.indexOf(functionName) + 1);
  if (rest.length === 0) return server;
  throw new SwarmError("TOOL_NOT_FOUND", `There is no tool server at ${url.pathname}`, {
    hint: `The path is /functions/v1/${functionName}/<server>.`,
  });
}
