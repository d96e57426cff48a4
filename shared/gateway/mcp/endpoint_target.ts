import { SwarmError } from "../../platform/errors/swarm_error.ts";

/**
 * The server in a URL: the segment after the function's name; null for all servers.
 *
 * @throws TOOL_NOT_FOUND for a longer path.
 * @throws QUERY_INVALID for any query: a misspelled restriction must not be ignored silently.
 */
export function serverOfUrl(url: URL, functionName: string): string | null {
  const [unknown] = url.searchParams.keys();
  if (unknown !== undefined) {
    throw new SwarmError("QUERY_INVALID", `Cannot read the query: unknown parameter '${unknown}'`, {
      hint: `Omit it. The path names the server: /functions/v1/${functionName}/<server>.`,
    });
  }
  const segments = url.pathname.split("/").filter((segment) => segment !== "");
  const [server = null, ...rest] = segments.slice(segments.indexOf(functionName) + 1);
  if (rest.length === 0) return server;
  throw new SwarmError("TOOL_NOT_FOUND", `Tool server not found at ${url.pathname}`, {
    hint: `The path is /functions/v1/${functionName}/<server>.`,
  });
}
