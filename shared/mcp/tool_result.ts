import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { JsonValue } from "../json.ts";
import { isNestedTooDeep } from "../json_depth.ts";
import type { ServerAnswer } from "../tools/tool_server.ts";

/** A tool's result as text for a model, with its structured form where it gave one. */
export function answerOfResult(result: CallToolResult): ServerAnswer {
  const structured = isNestedTooDeep(result.structuredContent)
    ? "(a result nested too deep to be taken over)"
    : result.structuredContent as JsonValue | undefined;
  const text = result.content.map(textOf).join("\n");
  return {
    kind: "answered",
    text: text === "" && structured !== undefined ? JSON.stringify(structured) : text,
    ...(structured === undefined ? {} : { structured }),
    isError: result.isError === true,
    ...(refusesCall(result, text) ? { isDefinitionStale: true } : {}),
  };
}

/** The arguments fitted the cached schema, so a server that refuses them has another one now. */
const REFUSED_CALL =
  /unknown tool|tool\b.{0,100}\bnot found|invalid (arguments?|params|parameters|input)|input validation/i;

function refusesCall(result: CallToolResult, text: string): boolean {
  return result.isError === true && REFUSED_CALL.test(text.slice(0, 1_000));
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `(${block.type} of type ${block.mimeType}, not shown)`;
    case "resource_link":
      return `(resource ${block.name}: ${block.uri})`;
    case "resource":
      return "text" in block.resource
        ? block.resource.text
        : `(resource ${block.resource.uri}, not shown)`;
  }
}
