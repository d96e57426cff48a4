import { isJsonObject } from "../../../platform/values/json.ts";
import type { ExternalServer } from "../../tool_contracts/server_tools.ts";
import type { RegisteredTool } from "../../tool_contracts/tool_records.ts";

/** The public facts about an external server; null for any other tool. */
export function externalServerOf(
  { type, config }: Pick<RegisteredTool, "type" | "config">,
): ExternalServer | null {
  if (type !== "mcp_server" || !isJsonObject(config)) return null;
  const { mcp_url: url, docs_url: docsUrl, capabilities } = config;
  return {
    endpoint: typeof url === "string" ? URL.parse(url)?.origin ?? null : null,
    docsUrl: typeof docsUrl === "string" ? docsUrl : null,
    capabilities: Array.isArray(capabilities) ? capabilities.map(String) : [],
  };
}
