import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atExit } from "../at_exit.ts";
import type { FunctionConfig } from "./function_config.ts";
import {
  decodeMessage,
  encodeMessage,
  type IsolateCommand,
  type IsolateEvent,
} from "./isolate_protocol.ts";
import { readLines } from "./read_lines.ts";

/** Variables that Deno itself needs to load code and packages. Never add a key. */
const RUNTIME_VARIABLES = [
  "HOME",
  "USERPROFILE",
  "LOCALAPPDATA",
  "XDG_CACHE_HOME",
  "DENO_DIR",
  "DENO_CERT",
  "DENO_TLS_CA_STORE",
  "NPM_CONFIG_REGISTRY",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
];

/**
 * JavaScript heap of one isolate, as on the hosted platform. The process ends when it is exceeded.
 */
const MAX_HEAP_MEGABYTES = 256;

/** How long the process may take to exit after its stdin ends. */
const EXIT_GRACE_MS = 2_000;

interface IsolateProcessOptions {
  readonly projectRoot: string;
  /** How the imports of all its functions are resolved. */
  readonly config: FunctionConfig | null;
  /** The functions' environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly onEvent: (event: IsolateEvent) => void;
  /** Receives a line of the process itself: Deno's messages, stack traces, stray output. */
  readonly onOutput: (line: string) => void;
}

/** The running process that holds the isolates. */
export interface IsolateProcess {
  readonly pid: number;
  send(command: IsolateCommand): void;
  /** Resolves when the process has ended for any reason. */
  readonly exited: Promise<void>;
  /** Closes its stdin, and kills it if it does not exit. */
  stop(): Promise<void>;
}

/**
 * Starts the process that holds the isolates.
 *
 * The isolates need a separate process for two reasons. Deno has one environment per process, so
 * functions could read and change the variables of the stack, including keys. And a worker that
 * runs out of memory ends its whole process.
 */
export async function spawnIsolateProcess(options: IsolateProcessOptions): Promise<IsolateProcess> {
  const temporaryFolder = await Deno.makeTempDir({ prefix: "supaswarm-functions-" });
  const readable = await readableFolders(options.projectRoot);
  const child = new Deno.Command(Deno.execPath(), {
    args: denoArguments(options.config, readable, temporaryFolder),
    cwd: options.projectRoot,
    clearEnv: true,
    env: {
      ...runtimeEnvironment(),
      ...options.env,
      TMPDIR: temporaryFolder,
      NO_COLOR: "1",
      // As on the hosted platform, which does not read it.
      DENO_NO_PACKAGE_JSON: "1",
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  pumpEvents(child.stdout, options);
  pumpOutput(child.stderr, options);
  const writer = child.stdin.getWriter();
  const release = atExit(() => kill(child));
  const exited = child.status.then(async () => {
    release();
    await writer.abort().catch(() => {});
    await Deno.remove(temporaryFolder, { recursive: true }).catch(() => {});
  });
  return {
    pid: child.pid,
    send: (command) => writeCommand(writer, command),
    exited,
    stop: () => stopProcess({ child, writer, exited }),
  };
}

function denoArguments(
  config: FunctionConfig | null,
  readable: readonly string[],
  temporaryFolder: string,
): string[] {
  const here = fileURLToPath(new URL(".", import.meta.url));
  return [
    "run",
    "--quiet",
    "--no-prompt",
    "--unstable-worker-options",
    // A request's signal aborts when its client disconnects, not after every response.
    "--unstable-no-legacy-abort",
    `--v8-flags=--max-old-space-size=${MAX_HEAP_MEGABYTES}`,
    "--no-lock",
    ...configArguments(config),
    "--allow-net",
    "--allow-env",
    "--allow-sys",
    `--allow-read=${[...readable, here, temporaryFolder].join(",")}`,
    `--allow-write=${temporaryFolder}`,
    fileURLToPath(new URL("./isolate_process.ts", import.meta.url)),
    JSON.stringify(readable),
    temporaryFolder,
  ];
}

function configArguments(config: FunctionConfig | null): string[] {
  if (config === null) return ["--no-config"];
  if (config.isImportMap) return ["--no-config", `--import-map=${config.path}`];
  return ["--config", config.path];
}

/**
 * Returns the folders that functions may read: the project without its hidden entries (`.env`, the
 * stack's data), and Deno's folder of npm packages, because some packages read their files.
 */
async function readableFolders(projectRoot: string): Promise<string[]> {
  const paths: string[] = [await npmCacheFolder()];
  for await (const { name } of Deno.readDir(projectRoot)) {
    if (!name.startsWith(".")) paths.push(join(projectRoot, name));
  }
  return paths;
}

async function npmCacheFolder(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json"],
    stderr: "null",
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).npmCache;
}

/** Returns the variables of this process that a process with untrusted code gets. */
export function runtimeEnvironment(): Record<string, string> {
  const found = RUNTIME_VARIABLES.map((name) => [name, Deno.env.get(name)] as const);
  return Object.fromEntries(found.flatMap(([name, value]) => value ? [[name, value]] : []));
}

/**
 * Queues a line for the process's stdin. Ignores a write error, because `exited` reports the end.
 */
function writeCommand(
  writer: WritableStreamDefaultWriter<Uint8Array>,
  command: IsolateCommand,
): void {
  writer.write(new TextEncoder().encode(encodeMessage(command))).catch(() => {});
}

async function pumpEvents(
  stdout: ReadableStream<Uint8Array>,
  { onEvent, onOutput }: IsolateProcessOptions,
): Promise<void> {
  for await (const line of readLines(stdout)) {
    const event = decodeMessage<IsolateEvent>(line);
    if (event === null) onOutput(line);
    else onEvent(event);
  }
}

async function pumpOutput(
  stderr: ReadableStream<Uint8Array>,
  { onOutput }: IsolateProcessOptions,
): Promise<void> {
  for await (const line of readLines(stderr)) onOutput(line);
}

async function stopProcess({ child, writer, exited }: {
  readonly child: Deno.ChildProcess;
  readonly writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly exited: Promise<void>;
}): Promise<void> {
  const timer = setTimeout(() => kill(child), EXIT_GRACE_MS);
  writer.close().catch(() => {});
  await exited.finally(() => clearTimeout(timer));
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // The process has already ended.
  }
}
