import { readLines } from "../../stack/functions/read_lines.ts";
import { fileURLToPath } from "node:url";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import type { Peers } from "./peers/install_peers.ts";

/** The compared systems, which run on Node. */
export const PEER_SYSTEMS = ["graphile", "pgboss", "openworkflow", "dbos"] as const;

export type PeerSystem = (typeof PEER_SYSTEMS)[number];

/** The settings of a benchmark worker. */
export interface WorkerOrder {
  readonly system: PeerSystem | "supaswarm" | "pgmq_poll" | "absurd";
  readonly url: string;
  readonly concurrency: number;
  /** Maximum number of connections. */
  readonly poolSize: number;
  /** Reports the start times of these tasks, counted from 1, or of every n-th. Null: of all. */
  readonly marks: readonly number[] | number | null;
  /** Peers only: tasks to add to their queue before they start. @default 0 */
  readonly enqueueCount?: number;
  /** Jobs that call a tool. Only the product and absurd have them. @default none */
  readonly desk?: DeskOrder;
}

/** What jobs of several turns do. */
export interface DeskOrder {
  /** The tool. */
  readonly url: string;
  /** Model calls of a job. Each but the last asks for one tool call. */
  readonly turns: number;
  /** The text of each answer. */
  readonly answer: string;
  /** absurd only. */
  readonly queue?: string;
}

/** The time at which a worker started its n-th task. */
export interface TaskMoment {
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly at_ms: number;
  /** Creation time of the newest task that the worker had to create. */
  readonly created_at_ms?: number;
}

/** A worker in a separate process. */
export interface WorkerProcess extends AsyncDisposable {
  /** Returns the next reported time. */
  next(timeoutMs: number): Promise<TaskMoment>;
  /** Makes a peer create one more task. */
  createTask(): Promise<void>;
}

/** Starts a worker and waits until it serves. */
export async function startWorkerProcess(
  order: WorkerOrder,
  peers: Peers | null,
): Promise<WorkerProcess> {
  const child = commandOf(order, peers).spawn();
  const stdin = child.stdin.getWriter();
  const lines = readLines(child.stdout);
  let isOver = false;

  async function read(timeoutMs: number): Promise<string> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error(`The worker ${order.system} was silent for ${timeoutMs} ms`)),
      timeoutMs,
    );
    try {
      const { value, done } = await Promise.race([lines.next(), late]);
      if (done) throw new Error(`The worker ${order.system} has ended`);
      return value;
    } finally {
      clearTimeout(timer);
    }
  }

  async function stop(): Promise<void> {
    if (isOver) return;
    isOver = true;
    await stdin.close().catch(() => {});
    const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
    // Read and ignore the rest, because a closed pipe would be an error in the worker.
    while (!(await lines.next()).done);
    await child.status;
    clearTimeout(timer);
  }

  try {
    await read(30_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    // No validation: only the workers of this folder write it.
    next: async (timeoutMs) => JSON.parse(await read(timeoutMs)) as TaskMoment,
    createTask: () => stdin.write(new TextEncoder().encode("create\n")),
    [Symbol.asyncDispose]: stop,
  };
}

function commandOf(order: WorkerOrder, peers: Peers | null): Deno.Command {
  const argument = JSON.stringify(order);
  const streams = { stdin: "piped", stdout: "piped", stderr: "inherit" } as const;
  if (order.system === "absurd" || PEER_SYSTEMS.some((system) => system === order.system)) {
    if (peers === null) throw new Error(`The peer ${order.system} is not installed`);
    return new Deno.Command(peers.nodePath, {
      args: [peers.workerPath, argument],
      env: { NODE_ENV: "production" },
      ...streams,
    });
  }
  const program = fileURLToPath(new URL(`${order.system}_worker.ts`, import.meta.url));
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", program, argument],
    cwd: PROJECT_ROOT,
    ...streams,
  });
}
