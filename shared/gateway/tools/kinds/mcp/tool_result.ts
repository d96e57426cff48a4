import type { ContentBlock } from "../../../../platform/values/content_block.ts";
import { definedOnly } from "../../../../platform/values/defined_only.ts";
import type { JsonObject, JsonValue } from "../../../../platform/values/json.ts";
import { isNestedTooDeep } from "../../../../platform/values/json_depth.ts";
import { contentText } from "../../../../platform/values/content_text.ts";
import type { Answered } from "../../../tool_contracts/tool_server.ts";
import type { CallToolResult } from "../../../../vendor/mcp_client.js";

/** A tool's result, with its text for a model. */
export function answerOfResult(result: CallToolResult): Answered {
  const structured = isNestedTooDeep(result.structuredContent)
    ? "(a result that is nested too deeply)"
    : result.structuredContent as JsonValue | undefined;
  const content = result.content as unknown as readonly ContentBlock[];
  const text = contentText(content);
  return {
    kind: "answered",
    text: text === "" && structured !== undefined ? JSON.stringify(structured) : text,
    content,
    ...definedOnly({ structured }),
    ...metaOf(result._meta),
    isError: result.isError === true,
    ...(refusesCall(result, text) ? { isDefinitionStale: true } : {}),
  };
}

/** The server's own `_meta`, without the protocol's connection data. */
export function metaOf(meta: Record<string, unknown> | undefined): { meta?: JsonObject } {
  const own = Object.entries(meta ?? {})
    .filter(([key]) => !key.startsWith("io.modelcontextprotocol/"));
  if (own.length === 0 || isNestedTooDeep(own)) return {};
  return { meta: Object.fromEntries(own) as JsonObject };
}

/** The arguments matched the cached schema, so a server that rejects them has changed it. */
const REFUSED_CALL =
  /unknown tool|tool\b.{0,100}\bnot found|invalid (arguments?|params|parameters|input)|input validation/i;

function refusesCall(result: CallToolResult, text: string): boolean {
  return result.isError === true && REFUSED_CALL.test(text.slice(0, 1_000));
}
