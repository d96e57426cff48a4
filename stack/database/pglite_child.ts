/**
 * The database process: PGlite on a data folder, shared over TCP by `@electric-sql/pglite-socket`.
 * Started by {@linkcode ./pglite_process.ts}; talks in the lines of {@linkcode ./child_protocol.ts}
 * and ends when its stdin does, so that it never outlives the stack.
 */
import {
  loadPglite,
  loadPglitePgcrypto,
  loadPglitePgtap,
  loadPglitePgvector,
  loadPgliteSocket,
  loadPgliteUuidOssp,
  type Pglite,
  type PgliteExtension,
} from "../deps.ts";
import {
  type ChildOptions,
  type PrepareTask,
  reportToParent,
  type ServeTask,
} from "./child_protocol.ts";
import { takeLock } from "./folder_lock.ts";
import { SharedSession } from "./shared_session.ts";

const MAX_CONNECTIONS = 500;
const SHUTDOWN_LIMIT_MS = 5_000;
/** What a session of `postgres` starts with on a hosted project; PGlite starts with `public`. */
const SEARCH_PATH = String.raw`"\$user", public, extensions`;

async function main(): Promise<void> {
  ignoreSignals();
  const stdin = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).getReader();
  const options = await readOptions(stdin);
  const parentEnd = end(stdin);
  const ownerPid = options.task.kind === "serve" ? options.task.ownerPid : Deno.pid;
  const lock = await takeLock(`${options.dataDir}.lock`, ownerPid);
  if (lock.kind === "held") {
    reportToParent({ kind: "locked", pid: lock.holder?.ownerPid ?? null });
  } else if (options.task.kind === "prepare") {
    parentEnd.then(() => Deno.exit(1));
    await prepare(options, options.task);
  } else {
    await serve(options, options.task, parentEnd);
  }
  Deno.exit(0);
}

/** The first line of stdin; it comes from pglite_process.ts, never from a person. */
async function readOptions(stdin: ReadableStreamDefaultReader<string>): Promise<ChildOptions> {
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await stdin.read();
    if (done) Deno.exit(0);
    text += value;
  }
  return JSON.parse(text) as ChildOptions;
}

/** Nothing more is ever sent; only the end of the stream counts. */
async function end(stdin: ReadableStreamDefaultReader<string>): Promise<void> {
  while (!(await stdin.read()).done);
}

/** Ctrl-C reaches the whole process group; the stack decides when its database ends. */
function ignoreSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    Deno.addSignalListener(signal, () => {});
  }
}

async function openPglite(options: ChildOptions): Promise<Pglite> {
  const [{ PGlite }, { vector }, { pgtap }, { pgcrypto }, { uuid_ossp }] = await Promise.all([
    loadPglite(),
    loadPglitePgvector(),
    loadPglitePgtap(),
    loadPglitePgcrypto(),
    loadPgliteUuidOssp(),
  ]);
  const extensions: Record<string, PgliteExtension> = { vector, pgtap, pgcrypto, uuid_ossp };
  for (const { name, path } of options.bundles) {
    extensions[name] = {
      name,
      setup: (_pglite, emscriptenOpts) =>
        Promise.resolve({ emscriptenOpts, bundlePath: new URL(`file://${encodeURI(path)}`) }),
    };
  }
  return await PGlite.create({ dataDir: options.dataDir, extensions });
}

async function prepare(options: ChildOptions, task: PrepareTask): Promise<void> {
  const pglite = await openPglite(options);
  for (const file of task.sql) await execNamed(pglite, file.name, file.sql);
  await pglite.close();
  reportToParent({ kind: "prepared" });
}

async function execNamed(pglite: Pglite, name: string, sql: string): Promise<void> {
  try {
    await pglite.exec(sql);
  } catch (error) {
    throw new Error(`Cannot run ${name}: ${describe(error)}`, { cause: error });
  }
}

async function serve(
  options: ChildOptions,
  task: ServeTask,
  parentEnd: Promise<void>,
): Promise<void> {
  const pglite = await openPglite(options);
  await pglite.exec(`set search_path = ${SEARCH_PATH}`);
  // Before the server starts: afterwards a statement of ours could run in a client's transaction.
  for (const channel of task.channels) await pglite.exec(`listen "${channel}"`);
  const pulse = createPulse(task.beatIntervalMs);
  const session = new SharedSession(pglite, {
    onNotification: (notification) => reportToParent({ kind: "notification", ...notification }),
    onProgress: pulse.progress,
    onBroken: (error) => fail(error),
  });
  const { PGLiteSocketServer } = await loadPgliteSocket();
  const server = new PGLiteSocketServer({
    // The server calls the five public methods that SharedSession has, and nothing else.
    db: session as unknown as Pglite,
    host: "127.0.0.1",
    port: task.port,
    maxConnections: MAX_CONNECTIONS,
  });
  await server.start();
  const port = Number(server.getServerConn().split(":").at(-1));
  reportToParent({ kind: "ready", port });
  pulse.start(() => server.getStats().queuedQueries > 0);

  await parentEnd;
  setTimeout(() => Deno.exit(1), SHUTDOWN_LIMIT_MS);
  await server.stop();
  await pglite.close();
}

/**
 * Signs of life: sent while messages are answered or nobody waits. They stop when a statement
 * keeps the one session busy, and when an idle transaction keeps all others waiting.
 */
function createPulse(intervalMs: number) {
  let beatAt = performance.now();
  let hasProgressed = false;
  const beat = () => {
    beatAt = performance.now();
    hasProgressed = false;
    reportToParent({ kind: "beat" });
  };
  return {
    progress(): void {
      hasProgressed = true;
      // Many short statements in a row can keep timers from running.
      if (performance.now() - beatAt > intervalMs) beat();
    },
    start(isAnyoneWaiting: () => boolean): void {
      setInterval(() => {
        if (hasProgressed || !isAnyoneWaiting()) beat();
      }, intervalMs);
    },
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function fail(error: unknown): never {
  reportToParent({ kind: "failed", message: describe(error) });
  Deno.exit(1);
}

if (import.meta.main) main().catch(fail);
