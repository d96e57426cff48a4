import process from "node:process";

/** File APIs that the edge runtime always refuses. The other asynchronous ones work. */
const REFUSED_FILE_APIS = [
  "chdir",
  "chmod",
  "chown",
  "copyFile",
  "link",
  "readLink",
  "rename",
  "symlink",
  "truncate",
  "umask",
  "utime",
  "watchFs",
];

/** APIs that edge functions may call but that have no effect. */
const IGNORED_APIS = ["exit", "kill", "addSignalListener", "removeSignalListener"];

/** What the environment needs from the isolate. */
export interface EdgeEnvironmentPorts {
  /** Serves the function's requests. Replaces `Deno.serve`. */
  readonly serve: typeof Deno.serve;
  /** Returns the server's original request for a request that the function received. */
  readonly nativeRequest: (request: Request) => Request;
  /** Keeps the isolate alive until the promise settles. */
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** Makes this worker behave like the edge runtime for code that is loaded later. */
export function installEdgeEnvironment(ports: EdgeEnvironmentPorts): void {
  const upgradeWebSocket = Deno.upgradeWebSocket;
  Object.assign(Deno, {
    serve: ports.serve,
    upgradeWebSocket: (request: Request, options?: Deno.UpgradeWebSocketOptions) =>
      upgradeWebSocket(ports.nativeRequest(request), options),
    Command: class {
      constructor() {
        throw new Deno.errors.PermissionDenied("Spawning subprocesses is not allowed");
      }
    },
  });
  for (const name of REFUSED_FILE_APIS) {
    refuse(name);
    refuse(`${name}Sync`);
  }
  const ignore = () => {};
  for (const name of IGNORED_APIS) Object.assign(Deno, { [name]: ignore });
  Object.assign(process, { exit: ignore, abort: ignore, kill: ignore });
  Object.assign(globalThis, {
    close: ignore,
    EdgeRuntime: { waitUntil: ports.waitUntil },
    Worker: undefined,
  });
}

/**
 * Refuses synchronous file access from now on. The edge runtime allows it only while code loads.
 */
export function refuseSyncFileApis(): void {
  const names = Object.keys(Deno).filter((name) => name.endsWith("Sync"));
  for (const name of names) if (name !== "realPathSync") refuse(name);
}

function refuse(name: string): void {
  const fail = () => {
    throw new Deno.errors.PermissionDenied(`Deno.${name} is blocklisted in edge functions`);
  };
  Object.assign(Deno, { [name]: fail });
}
