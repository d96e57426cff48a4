import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";

/** The line that `start --json` prints when it serves. */
export interface ReadyLine {
  readonly ready: boolean;
  readonly pid: number;
  readonly api_url: string;
  readonly db_url: string;
  readonly console_url: string | null;
  readonly publishable_key: string;
  readonly secret_key: string;
  readonly functions: readonly string[];
  readonly other_ports: readonly { readonly url: string; readonly serves: string }[];
  readonly boot_ms: number;
}

/** How a start ended. */
export interface StartEnd {
  readonly code: number;
  /** All of stdout. */
  readonly stdout: string;
  readonly stderr: string;
}

/** A `start` command in a separate process. */
export interface StartProcess extends AsyncDisposable {
  /** Rejects if the process ends before it is ready. */
  readonly ready: Promise<ReadyLine>;
  /** Its first line, whatever it says. */
  readonly printed: Promise<string>;
  readonly ended: Promise<StartEnd>;
  kill(signal: Deno.Signal): void;
  closeStdin(): Promise<void>;
}

/** Runs `scripts/start.ts` with `args`; `stdin` is a pipe by default. */
export function runStart(
  args: readonly string[],
  options: {
    readonly stdin?: "piped" | "null";
    readonly env?: Record<string, string>;
    /** The checkout to start. @default this one */
    readonly root?: string;
  } = {},
): StartProcess {
  const { stdin = "piped", env = {}, root = PROJECT_ROOT } = options;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", join(root, "scripts/start.ts"), ...args],
    stdin,
    stdout: "piped",
    stderr: "piped",
    env,
  }).spawn();
  const output = readOutput(child);
  const ready = output.firstLine.then((line): ReadyLine => JSON.parse(line));
  ready.catch(() => {}); // Not every test waits for it.
  return {
    ready,
    printed: output.firstLine,
    ended: output.ended,
    kill: (signal) => child.kill(signal),
    closeStdin: async () => await child.stdin.close(),
    async [Symbol.asyncDispose]() {
      try {
        child.kill("SIGTERM");
      } catch {
        // It has already ended.
      }
      if (stdin === "piped") await child.stdin.close().catch(() => {});
      await output.ended;
    },
  };
}

function readOutput(
  child: Deno.ChildProcess,
): { readonly firstLine: Promise<string>; readonly ended: Promise<StartEnd> } {
  const firstLine = Promise.withResolvers<string>();
  const readAll = async () => {
    let stdout = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      stdout += text;
      const end = stdout.indexOf("\n");
      if (end >= 0) firstLine.resolve(stdout.slice(0, end));
    }
    return stdout;
  };
  const stderrText = new Response(child.stderr).text();
  const ended = Promise.all([child.status, readAll(), stderrText]).then(
    ([{ code }, stdout, stderr]) => {
      firstLine.reject(new Error(`start ended with code ${code}: ${stderr}`));
      return { code, stdout, stderr };
    },
  );
  return { firstLine: firstLine.promise, ended };
}
