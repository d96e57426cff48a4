import { fileURLToPath } from "node:url";
import { waitFor } from "../../scripts/wait_for.ts";

const START_LIMIT_MS = 120_000;
const LOOPBACK_ONLY = fileURLToPath(new URL("loopback_only.ts", import.meta.url));

/** A program from npm that serves MCP over HTTP on loopback. */
export interface ForeignServer extends AsyncDisposable {
  readonly url: string;
  kill(): Promise<void>;
  /** Restarts it at the same address after `kill`. */
  restart(): Promise<void>;
}

/** How the program starts. */
export interface ForeignProgram {
  /** `npm:…` and its arguments; `PORT` in them is replaced by the port. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The Deno command that runs another program behind a stdio proxy. */
export const DENO_RUN = [Deno.execPath(), "run", "-A", "--no-lock", "--quiet"];

/** Starts the program and waits until it answers. */
export async function startForeignServer(program: ForeignProgram): Promise<ForeignServer> {
  const port = freePort();
  // Outside the project, whose deno.lock would otherwise gain the packages of this program.
  const cwd = await Deno.makeTempDir({ prefix: "supaswarm-fleet-" });
  let process: Deno.ChildProcess | null = null;
  const url = `http://127.0.0.1:${port}/mcp`;

  async function start(): Promise<void> {
    const args = program.command.map((part) => part.replace("PORT", String(port)));
    process = new Deno.Command(Deno.execPath(), {
      args: [...DENO_RUN.slice(1), "--preload", LOOPBACK_ONLY, ...args],
      cwd,
      env: { PORT: String(port), NO_COLOR: "1", ...program.env },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    await waitFor(() => answers(url), { what: args[0] ?? "", timeoutMs: START_LIMIT_MS });
  }

  async function kill(): Promise<void> {
    const running = process;
    process = null;
    if (running === null) return;
    running.kill("SIGTERM");
    const timer = setTimeout(() => running.kill("SIGKILL"), 3_000);
    await running.status;
    clearTimeout(timer);
  }

  await start();
  return {
    url,
    kill,
    restart: start,
    async [Symbol.asyncDispose]() {
      await kill();
      await Deno.remove(cwd, { recursive: true }).catch(() => {});
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { method: "POST", body: "{}" });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
