/**
 * The database process: PGlite on a data folder, shared over TCP by `@electric-sql/pglite-socket`.
 * {@linkcode ./pglite_process.ts} starts it and exchanges the messages of {@linkcode
 * ./child_protocol.ts} with it. The process exits when its stdin ends, so it never outlives the
 * stack.
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
/** The search path of `postgres` on a hosted project. PGlite's default is `public`. */
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

/** Reads the first line of stdin. It is trusted because pglite_process.ts writes it. */
async function readOptions(stdin: ReadableStreamDefaultReader<string>): Promise<ChildOptions> {
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await stdin.read();
    if (done) Deno.exit(0);
    text += value;
  }
  return JSON.parse(text) as ChildOptions;
}

/** Resolves at the end of stdin. The parent sends nothing after the first line. */
async function end(stdin: ReadableStreamDefaultReader<string>): Promise<void> {
  while (!(await stdin.read()).done);
}

/** Ctrl-C reaches the whole process group, but the stack decides when its database stops. */
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
  for (const [index, file] of task.sql.entries()) {
    reportToParent({ kind: "ran", done: index / task.sql.length });
    await execNamed(pglite, file.name, file.sql);
  }
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
  // Listen before the server starts: later, this statement could run in a client's transaction.
  for (const channel of task.channels) await pglite.exec(`listen "${channel}"`);
  const pulse = createPulse(task.beatIntervalMs);
  const session = new SharedSession(pglite, {
    onNotification: (notification) => reportToParent({ kind: "notification", ...notification }),
    onProgress: pulse.progress,
    onBroken: (error) => fail(error),
  });
  const { PGLiteSocketServer } = await loadPgliteSocket();
  const server = new PGLiteSocketServer({
    // The server calls only the five public methods that SharedSession has.
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
 * Sends heartbeats while the session answers messages or no client is waiting. They stop when a
 * statement keeps the only session busy, and when an idle transaction blocks all other clients.
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
      // A long run of short statements can keep timers from firing.
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
