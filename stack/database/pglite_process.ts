import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { atExit } from "../at_exit.ts";
import type { ChildMessage, ChildOptions, ExtensionBundle } from "./child_protocol.ts";
import type { Logger, ReportDoing } from "./database_port.ts";
import { folderInUse } from "./folder_lock.ts";
import { readsProcessorWait } from "./processor_wait.ts";
import type { Notification } from "./wire_frames.ts";
import { readLines } from "../functions/read_lines.ts";

const CHILD_SCRIPT = new URL("./pglite_child.ts", import.meta.url);
const STOP_GRACE_MS = 6_000;
const KEPT_ERROR_LINES = 8;

interface PgliteProcessOptions {
  /** The PostgreSQL data folder. Its lock file is `<dataDir>.lock`. */
  readonly dataDir: string;
  readonly bundles: readonly ExtensionBundle[];
  /** 0 takes any free port. */
  readonly port: number;
  readonly channels: readonly string[];
  readonly beatIntervalMs: number;
  readonly onNotification: (notification: Notification) => void;
  readonly onBeat: () => void;
  readonly log: Logger;
  /** Kills the process when it aborts before the process is ready. */
  readonly signal?: AbortSignal;
}

/** A child process that serves the database. */
export interface PgliteProcess {
  readonly pid: number;
  readonly port: number;
  /** Resolves when the process has ended, with the reason if it is known. */
  readonly ended: Promise<string>;
  /**
   * Returns for how many milliseconds it has waited for a processor since the last call, 0 where that
   * is unknown.
   */
  readProcessorWaitMs(): number;
  /** Kills the process immediately, like a crash. */
  kill(): void;
  /** Lets the process write everything and exit. Kills it after six seconds. */
  stop(): Promise<void>;
}

/**
 * Starts a child that serves `dataDir`, and waits until it is ready.
 *
 * @throws SwarmError `DATABASE_UNAVAILABLE` when the folder is in use or cannot be opened.
 */
export async function startPgliteProcess(options: PgliteProcessOptions): Promise<PgliteProcess> {
  const { dataDir, bundles, port, channels, beatIntervalMs } = options;
  const ready = Promise.withResolvers<number>();
  const child = spawnChild(
    {
      dataDir,
      bundles,
      task: { kind: "serve", port, channels, beatIntervalMs, ownerPid: Deno.pid },
    },
    options,
    (message) => {
      if (message.kind === "notification") options.onNotification(message);
      else if (message.kind === "beat") options.onBeat();
      else if (message.kind === "ready") ready.resolve(message.port);
      else ready.reject(toError(dataDir, message));
    },
  );
  child.ended.then((reason) => ready.reject(openingError(dataDir, reason)));
  return { ...child, port: await killedBy(options.signal, child, ready.promise) };
}

/**
 * Creates a data folder and runs `sql` in it. It uses a separate child, whose exit frees the memory
 * that PGlite needs to initialize a folder.
 *
 * @throws SwarmError `DATABASE_UNAVAILABLE` with the name of the file that failed.
 */
export async function preparePgliteFolder(
  options: {
    readonly dataDir: string;
    readonly bundles: readonly ExtensionBundle[];
    readonly sql: readonly { readonly name: string; readonly sql: string }[];
    readonly log: Logger;
    /** @default nothing is reported */
    readonly report?: ReportDoing;
    /** Kills the child when it aborts. */
    readonly signal?: AbortSignal;
  },
): Promise<void> {
  const { dataDir, bundles, sql } = options;
  let outcome: ChildMessage | undefined;
  const child = spawnChild(
    { dataDir, bundles, task: { kind: "prepare", sql } },
    options,
    (message) => {
      if (message.kind === "ran") options.report?.("creating the database", message.done);
      else outcome = message;
    },
  );
  const reason = await killedBy(options.signal, child, child.ended);
  if (outcome?.kind === "prepared") return;
  throw outcome === undefined ? openingError(dataDir, reason) : toError(dataDir, outcome);
}

/**
 * A folder is created once and in seconds, so optimizing PGlite's code for it costs more processor
 * time than it saves.
 */
function engineFlags({ task }: ChildOptions): readonly string[] {
  return task.kind === "prepare" ? ["--v8-flags=--liftoff-only"] : [];
}

/** Awaits `work` of a child, which the signal kills. */
async function killedBy<T>(
  signal: AbortSignal | undefined,
  { kill }: Pick<PgliteProcess, "kill">,
  work: Promise<T>,
): Promise<T> {
  if (signal?.aborted) kill();
  signal?.addEventListener("abort", kill);
  try {
    return await work;
  } finally {
    signal?.removeEventListener("abort", kill);
  }
}

/** Spawns the child script, sends it its options and reads its reports. */
function spawnChild(
  options: ChildOptions,
  { log }: { readonly log: Logger },
  onMessage: (message: ChildMessage) => void,
): Omit<PgliteProcess, "port"> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-all", ...engineFlags(options), CHILD_SCRIPT.href],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stdin = process.stdin.getWriter();
  // When the write fails, the child has ended, and `ended` reports that.
  stdin.write(new TextEncoder().encode(JSON.stringify(options) + "\n")).catch(() => {});
  const errorLines: string[] = [];
  const reports = eachLine(process.stdout, (line) => {
    if (line.startsWith("{")) onMessage(JSON.parse(line) as ChildMessage);
    else log("debug", "database.stdout", { line });
  });
  const errors = eachLine(process.stderr, (line) => {
    log("debug", "database.stderr", { line });
    errorLines.push(line);
    if (errorLines.length > KEPT_ERROR_LINES) errorLines.shift();
  });
  const ended = Promise.all([process.status, reports, errors]).then(([status]) =>
    errorLines.join(" ").trim() ||
    (status.signal === null
      ? `it ended with code ${status.code}`
      : `it was ended by ${status.signal}`)
  );
  const kill = () => {
    try {
      process.kill("SIGKILL");
    } catch {
      // The process has already ended.
    }
  };
  // A busy child notices only after its statement that its stdin has ended.
  ended.finally(atExit(kill));
  const stop = async () => {
    stdin.close().catch(() => {});
    const timer = setTimeout(kill, STOP_GRACE_MS);
    await ended;
    clearTimeout(timer);
  };
  return {
    pid: process.pid,
    ended,
    readProcessorWaitMs: readsProcessorWait(process.pid),
    kill,
    stop,
  };
}

async function eachLine(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  onLine: (line: string) => void,
): Promise<void> {
  for await (const line of readLines(stream)) if (line !== "") onLine(line);
}

function toError(dataDir: string, message: ChildMessage): SwarmError {
  if (message.kind === "locked") return folderInUse(dataDir, message.pid);
  return openingError(dataDir, message.kind === "failed" ? message.message : message.kind);
}

function openingError(dataDir: string, reason: string): SwarmError {
  return new SwarmError(
    "DATABASE_UNAVAILABLE",
    `Cannot open the database in ${dataDir}: ${reason}`,
    {
      hint: "If the folder is damaged, move it away. The next start creates a new one.",
      details: { reason: "broken" },
    },
  );
}
