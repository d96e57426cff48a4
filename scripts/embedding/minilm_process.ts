import { fileURLToPath } from "node:url";
import { MINILM_PACKAGES } from "../deps.ts";
import { readLines } from "../../stack/functions/read_lines.ts";
import { runtimeEnvironment } from "../../stack/functions/spawn_isolate_process.ts";

const CHILD_SCRIPT = fileURLToPath(new URL("./minilm_child.ts", import.meta.url));
const LOCK_FILE = fileURLToPath(new URL("./minilm_packages.lock", import.meta.url));

/** A text takes half a second, but the first one may wait for a download of 46 MB. */
const ANSWER_LIMIT_MS = 180_000;
const MAX_ERROR_LINES = 100;
const MAX_REASON_CHARS = 300;

/** A request to the process. */
export interface MinilmRequest {
  readonly text: string;
}

/** The process's answer. */
export type MinilmAnswer = { readonly vector: readonly number[] } | { readonly error: string };

/** A process with the loaded model. */
export interface MinilmProcess {
  readonly pid: number;
  /** Embeds one text at a time. Rejects with the reason when the process ends or is too slow. */
  embed(text: string): Promise<readonly number[]>;
  /** Kills the process, which has nothing to save. */
  stop(): Promise<void>;
}

/** The packages to load. Tests may pass ones that do not exist. */
export type MinilmPackages = Readonly<Record<keyof typeof MINILM_PACKAGES, string>>;

/** Starts a process. It loads the model with the first text. */
export function startMinilmProcess(packages: MinilmPackages = MINILM_PACKAGES): MinilmProcess {
  const child = new Deno.Command(Deno.execPath(), {
    args: denoArguments(packages),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    clearEnv: true,
    env: { ...runtimeEnvironment(), ...certificateVariables(), NO_COLOR: "1" },
  }).spawn();
  const writer = child.stdin.getWriter();
  const answers = readLines(child.stdout);
  const errorLines: string[] = [];
  const reading = keepLines(child.stderr, errorLines);
  const ended = child.status.then(async () => {
    await reading;
    await writer.abort().catch(() => {});
  });

  const ask = async (text: string) => {
    const request: MinilmRequest = { text };
    // Ignore a write error: the process has ended, and the missing answer reports that.
    writer.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`)).catch(() => {});
    const { value } = await answers.next();
    if (value !== undefined) return readAnswer(value);
    await ended;
    throw new Error(`The model's process has ended: ${reasonOf(errorLines)}`);
  };
  return {
    pid: child.pid,
    embed: (text) => withinLimit(ask(text), () => kill(child)),
    stop: async () => {
      kill(child);
      await ended;
      await answers.return(undefined);
    },
  };
}

/** The process downloads packages, perhaps through a proxy with its own certificates. */
function certificateVariables(): Record<string, string> {
  const names = ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"];
  const found = names.map((name) => [name, Deno.env.get(name)] as const);
  return Object.fromEntries(found.flatMap(([name, value]) => value ? [[name, value]] : []));
}

function denoArguments({ engine, model }: MinilmPackages): string[] {
  return [
    "run",
    "--quiet",
    "--no-prompt",
    "--no-config",
    `--lock=${LOCK_FILE}`,
    "--frozen",
    // No network and no writes: this is third-party code that reads every document.
    "--allow-read",
    "--allow-env",
    "--allow-sys",
    CHILD_SCRIPT,
    engine,
    model,
  ];
}

function readAnswer(line: string): readonly number[] {
  const answer: MinilmAnswer = JSON.parse(line);
  if ("vector" in answer) return answer.vector;
  throw new Error(`The model failed: ${answer.error}`);
}

/** Reads the stream to the end, so that the process never blocks on a full pipe. */
async function keepLines(stream: ReadableStream<Uint8Array>, kept: string[]): Promise<void> {
  for await (const line of readLines(stream)) {
    if (kept.length < MAX_ERROR_LINES) kept.push(line.trim());
  }
}

/** Deno's error message, without the preceding downloads and the following stack. */
function reasonOf(errorLines: readonly string[]): string {
  const start = errorLines.findIndex((line) => /^(error|.*Error):/i.test(line));
  const reason = errorLines.slice(Math.max(start, 0)).join(" ").slice(0, MAX_REASON_CHARS);
  return reason || "it was killed";
}

async function withinLimit<T>(work: Promise<T>, onLate: () => void): Promise<T> {
  const timer = setTimeout(onLate, ANSWER_LIMIT_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // The process has already ended.
  }
}
