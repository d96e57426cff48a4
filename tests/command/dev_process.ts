import type { ReadyLine } from "../stack/start_process.ts";
import { waitFor } from "../../scripts/wait_for.ts";

/** A first start writes the programs and migrates; long, because only a failure waits this long. */
const START_LIMIT_MS = 180_000;

/** A running `supaswarm dev`. */
export interface DevProcess extends AsyncDisposable {
  /** Rejects if the process ends before it is ready. */
  readonly ready: Promise<ReadyLine>;
  readonly ended: Promise<{ readonly code: number }>;
  /** Waits until it has printed this. */
  printed(pattern: RegExp): Promise<void>;
  stop(): void;
}

/** Starts the installed command in a project, with the Deno that it finds. */
export function startDev(root: string, env: Readonly<Record<string, string>>): DevProcess {
  const child = new Deno.Command("node_modules/.bin/supaswarm", {
    args: ["dev", "--port", "0", "--no-console", "--json"],
    cwd: root,
    env: {
      ...env,
      NO_COLOR: "1",
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let [stdout, stderr] = ["", ""];
  const reading = Promise.all([
    collect(child.stdout, (text) => stdout += text),
    collect(child.stderr, (text) => stderr += text),
  ]);
  const ended = Promise.all([child.status, reading]).then(([status]) => status);
  const first = async () => {
    const line = waitFor(() => /^\{.*\}\n/.exec(stdout)?.[0], {
      what: "supaswarm dev",
      timeoutMs: START_LIMIT_MS,
    });
    const early = ended.then(() => {
      throw new Error(`supaswarm dev ended: ${stderr}`);
    });
    return JSON.parse(await Promise.race([line, early])) as ReadyLine;
  };
  const ready = first();
  ready.catch(() => {}); // A test may look at the end instead.
  const stop = () => {
    try {
      child.kill("SIGTERM");
    } catch {
      // It has already ended.
    }
  };
  return {
    ready,
    ended,
    stop,
    printed: async (pattern) =>
      void await waitFor(() => pattern.test(stderr), { what: `${pattern} in ${stderr}` }),
    async [Symbol.asyncDispose]() {
      stop();
      await ended;
    },
  };
}

async function collect(
  stream: ReadableStream<Uint8Array>,
  add: (text: string) => void,
): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) add(text);
}
