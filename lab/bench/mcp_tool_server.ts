/** The measured tool server in a separate process. Answers each line of stdin with its URL. */
import { createMcpHandler, McpServer } from "../../shared/vendor/mcp_server.js";
import { z } from "../../shared/vendor/zod.js";
import { sleep } from "../../shared/platform/values/sleep.ts";
import { writeLine } from "../../scripts/terminal.ts";
import { TOOL } from "./mcp_endpoint.ts";

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "timed", version: "1" });
  server.registerTool(TOOL, {
    description: "Works for some time",
    inputSchema: z.object({ ms: z.number() }),
    annotations: { readOnlyHint: true },
  }, async ({ ms }, { mcpReq }) => {
    if (ms > 0) await sleep(ms, mcpReq.signal);
    return { content: [{ type: "text" as const, text: "done" }] };
  });
  return server;
});
const { addr } = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: () => {} },
  (request) => handler.fetch(request),
);
for await (const _line of Deno.stdin.readable) {
  writeLine(JSON.stringify({ url: `http://127.0.0.1:${addr.port}/` }));
}
