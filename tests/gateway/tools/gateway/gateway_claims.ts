import type { JsonObject } from "../../../../shared/platform/values/json.ts";
import type { ToolCaller } from "../../../../shared/gateway/tool_contracts/tool_caller.ts";
import type { ToolCallOutcome } from "../../../../shared/gateway/tool_contracts/tool_call.ts";
import { testsSharing } from "../../../shared_fixture.ts";
import { type McpFixture, type McpFixtureOptions, startMcpServer } from "../mcp_fixture.ts";
import { callOf, noAbort, openToolFixture, type ToolFixture } from "../tool_fixture.ts";

/** Registers a gateway test; all of them share one database. */
export const gatewayTest = testsSharing(openToolFixture);

/** A registered MCP server of one test. */
export interface RegisteredServer extends AsyncDisposable {
  readonly server: McpFixture;
  readonly toolId: string;
  readonly slug: string;
  call(caller: ToolCaller, toolName: string, args?: JsonObject): Promise<ToolCallOutcome>;
}

/** Starts a server for the test, registers it, and returns functions that call it. */
export async function registerServer(
  fixture: ToolFixture,
  options: McpFixtureOptions = {},
  config: JsonObject = {},
): Promise<RegisteredServer> {
  const server = await startMcpServer(options);
  const toolId = await fixture.createTool({
    type: "mcp_server",
    config: { mcp_url: server.url, ...config },
  });
  const [row] = await fixture.sql<{ slug: string }[]>`
    select slug from public.tools where id = ${toolId}`;
  const slug = row?.slug ?? "";
  return {
    server,
    toolId,
    slug,
    call: (caller: ToolCaller, toolName: string, args = {}) =>
      fixture.gateway.call(callOf({ server: slug, toolName }, caller, args), noAbort()),
    async [Symbol.asyncDispose]() {
      await server.stop();
    },
  };
}

/** The error code of a call, or its kind if the outcome is unknown. */
export function codeOf(outcome: ToolCallOutcome): string | undefined {
  return outcome.kind === "answered" ? outcome.errorCode : outcome.kind;
}
