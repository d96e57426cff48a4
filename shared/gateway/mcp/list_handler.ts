import { definedOnly } from "../../platform/values/defined_only.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import type { Tool } from "../../vendor/mcp_server.js";
import { META_PREFIX } from "../tool_contracts/meta_keys.ts";
import { catalogKeyOf } from "../tool_contracts/tool_versions.ts";
import type { WireTool } from "./tool_directory.ts";

/** A tool in the endpoint's list. */
export function toListedTool({ wireName, tool }: WireTool): Tool {
  const { version, deprecated, title, description, inputSchema, outputSchema, annotations } = tool;
  const meta: JsonObject = version === null ? {} : {
    [`${META_PREFIX}tool_version`]: version,
    [`${META_PREFIX}catalogue_key`]: catalogKeyOf(tool),
    ...(deprecated === null ? {} : { [`${META_PREFIX}deprecated`]: deprecated }),
  };
  const listed = {
    name: wireName,
    ...definedOnly({ title, description }),
    inputSchema,
    ...definedOnly({ outputSchema, annotations }),
    ...(version === null ? {} : { _meta: meta }),
  };
  // Schemas are JSON from a server; the SDK's type declares only some of their members.
  return listed as unknown as Tool;
}
