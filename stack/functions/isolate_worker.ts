/**
 * The first code that runs in a function's isolate. It installs the edge environment, loads the
 * function, serves its requests on a loopback port, and ends the isolate on request.
 */
import { captureConsole } from "./edge_console.ts";
import { installEdgeEnvironment, refuseSyncFileApis } from "./edge_environment.ts";
import { EdgeServer } from "./edge_server.ts";
import { IsolateActivity } from "./isolate_activity.ts";
import type { IsolateCommand, IsolateEvent, UnloadReason } from "./isolate_protocol.ts";

/** The two members of a worker's global scope in use. Deno's worker types are not loaded here. */
const scope = globalThis as unknown as {
  postMessage(event: IsolateEvent): void;
  onmessage: ((event: MessageEvent<IsolateCommand>) => void) | null;
};
const post = scope.postMessage.bind(scope);

const activity = new IsolateActivity();
let hasUnloaded = false;

scope.onmessage = ({ data: command }) => {
  switch (command.type) {
    case "start":
      return void start(command);
    case "retire":
      return void activity.quiet().then(() => unload(command.isolate, command.reason));
    case "unload":
      return void unload(command.isolate, command.reason);
    case "ping":
      return post({ type: "pong", isolate: command.isolate });
    case "terminate":
      return;
  }
};

async function start({ isolate, name, entry }: IsolateCommand & { type: "start" }): Promise<void> {
  captureConsole((level, text) => post({ type: "log", isolate, level, text }));
  const server = new EdgeServer({
    activity,
    onListen: (port, key) => post({ type: "ready", isolate, port, key }),
  });
  installEdgeEnvironment({
    serve: server.serve,
    nativeRequest: server.nativeRequest,
    waitUntil: (work) => keepAlive(isolate, work),
  });
  try {
    const entryModule: { default?: unknown } = await import(entry);
    refuseSyncFileApis();
    server.serveDefaultExport(entryModule.default);
    await server.listening(name);
  } catch (error) {
    post({ type: "failed", isolate, message: describe(error) });
  }
}

function keepAlive(isolate: number, work: Promise<unknown>): void {
  const done = activity.begin();
  Promise.resolve(work).then(done, (error) => {
    const text = `The promise passed to EdgeRuntime.waitUntil was rejected: ${describe(error)}`;
    post({ type: "log", isolate, level: "error", text });
    done();
  });
}

/** Announces the unload once, then waits for work that its listeners start. */
async function unload(isolate: number, reason: UnloadReason): Promise<void> {
  if (hasUnloaded) return;
  hasUnloaded = true;
  activity.follow((count) => post({ type: "pending", isolate, count }));
  globalThis.dispatchEvent(new CustomEvent("beforeunload", { detail: { reason } }));
  await activity.quiet();
  post({ type: "ended", isolate });
}

function describe(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}
