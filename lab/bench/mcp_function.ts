/**
 * The function `mcp` in a separate process, like in an edge isolate. Answers each line of stdin
 * with its URL and the used processor time of the process.
 */
import process from "node:process";
import { createMcpApp } from "../../shared/app/mcp_app.ts";
import { readConfig } from "../../shared/platform/config/env.ts";
import { writeLine } from "../../scripts/terminal.ts";

const app = createMcpApp(readConfig(), () => {});
const { addr } = Deno.serve(
  { hostname: "127.0.0.1", port: 0, automaticCompression: false, onListen: () => {} },
  (request) => app.fetch(request),
);
for await (const _line of Deno.stdin.readable) {
  const { user, system } = process.cpuUsage();
  const url = `http://127.0.0.1:${addr.port}/mcp`;
  writeLine(JSON.stringify({ url, cpu_ms: (user + system) / 1_000 }));
}
