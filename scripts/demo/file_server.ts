import { atExit } from "../../stack/at_exit.ts";
import { DEMO_FILE_SERVER } from "../deps.ts";

const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 5_000;

/** A real MCP server for a folder of files that requires an API key. */
export interface FileServer {
  readonly url: string;
  /** The header that must hold the key. */
  readonly keyHeader: string;
  readonly apiKey: string;
  stop(): Promise<void>;
}

/**
 * Serves a folder with the MCP project's filesystem server over HTTP on 127.0.0.1. Both programs
 * come from npm and run in Deno.
 *
 * @param folder An absolute path. The server can read nothing outside of it.
 * @throws Error with the server's output when it does not respond in time, or the signal aborts.
 */
export async function startFileServer(folder: string, signal?: AbortSignal): Promise<FileServer> {
  const apiKey = `demo-files-${crypto.randomUUID()}`;
  const port = freePort();
  // Outside of the project, whose deno.lock would otherwise get the packages of this program.
  const cwd = await Deno.makeTempDir({ prefix: "supaswarm-demo-" });
  const deno = [Deno.execPath(), "run", "-A", "--no-lock"];
  const process = new Deno.Command(Deno.execPath(), {
    // deno-fmt-ignore
    args: [...deno.slice(1), DEMO_FILE_SERVER.proxy,
      "--host", "127.0.0.1", "--port", String(port), "--server", "stream", "--apiKey", apiKey,
      "--", ...deno, DEMO_FILE_SERVER.server, folder],
    cwd,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  // With its own server, which the proxy ends.
  process.status.finally(atExit(() => process.kill("SIGTERM")));
  const printed = collect(process.stderr);
  const server: FileServer = {
    url: `http://127.0.0.1:${port}/mcp`,
    keyHeader: "X-API-Key",
    apiKey,
    stop: async () => {
      await end(process);
      await Deno.remove(cwd, { recursive: true }).catch(() => {});
    },
  };
  try {
    await untilServing(server, process, signal);
    return server;
  } catch (error) {
    await server.stop();
    throw new Error(`Cannot start the MCP file server:\n${(await printed).trim()}`, {
      cause: error,
    });
  }
}

/** Whether the server refuses a request without the key. This also shows that it serves. */
export async function refusesWithoutKey(url: string): Promise<boolean> {
  const answer = await fetch(url, { method: "POST", body: "{}" });
  await answer.body?.cancel();
  return answer.status === 401;
}

async function untilServing(
  server: FileServer,
  process: Deno.ChildProcess,
  signal: AbortSignal | undefined,
): Promise<void> {
  let hasEnded = false;
  process.status.then(() => hasEnded = true);
  const deadline = performance.now() + START_LIMIT_MS;
  while (!await refusesWithoutKey(server.url).catch(() => false)) {
    signal?.throwIfAborted();
    if (hasEnded) throw new Error("It ended immediately");
    if (performance.now() > deadline) throw new Error(`It did not serve in ${START_LIMIT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Ends the process with SIGTERM, so that the proxy also ends its server, then with SIGKILL. */
async function end(process: Deno.ChildProcess): Promise<void> {
  const kill = (signal: Deno.Signal) => {
    try {
      process.kill(signal);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // The process has already ended.
    }
  };
  kill("SIGTERM");
  const timer = setTimeout(() => kill("SIGKILL"), STOP_LIMIT_MS);
  await process.status;
  clearTimeout(timer);
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(stream).text();
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}
