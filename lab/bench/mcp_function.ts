/**
 * One isolate of the function `mcp`: a separate process, whose main thread is the isolate's. Answers
 * each line of stdin with its URL.
 */
import { createMcpApp } from "../../shared/app/mcp_app.ts";
import { readConfig } from "../../shared/platform/config/env.ts";
import { startMetering } from "../../shared/platform/isolate/cpu_meter.ts";
import { writeLine } from "../../scripts/terminal.ts";

const noteArrival = startMetering();
const app = createMcpApp(readConfig(), () => {});
const { addr } = Deno.serve(
  { hostname: "127.0.0.1", port: 0, automaticCompression: false, onListen: () => {} },
  (request) => {
    noteArrival();
    return app.fetch(request);
  },
);
for await (const _line of Deno.stdin.readable) {
  writeLine(JSON.stringify({ url: `http://127.0.0.1:${addr.port}/mcp` }));
}
