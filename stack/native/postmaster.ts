import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { NativePrefix } from "./native_prefix.ts";
import { tryProgram } from "./run_program.ts";
import type { ServerUser } from "./server_user.ts";

/** A cluster's server process: its user, its programs and its data. */
export interface Postmaster {
  readonly prefix: NativePrefix;
  readonly user: ServerUser;
  /** The folder with `PG_VERSION`. */
  readonly pgData: string;
  readonly logFile: string;
}

/** How long a server may take to recover or to shut down. */
const TIMEOUT_SECONDS = 60;

/**
 * Starts the server on 127.0.0.1 and waits until it accepts connections. The server is detached:
 * Ctrl-C reaches only the process that started it, which then stops the server.
 *
 * @returns The server's process id.
 * @throws SwarmError `DATABASE_UNAVAILABLE` with the last lines of the server's log.
 */
export async function startPostmaster(postmaster: Postmaster, port: number): Promise<number> {
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`;
  const { ok } = await pgCtl(postmaster, "start", ["-l", postmaster.logFile, "-o", settings]);
  const pid = await readPostmasterPid(postmaster.pgData);
  if (ok && pid !== null) return pid;
  const log = await Deno.readTextFile(postmaster.logFile).catch(() => "");
  if (log.includes("could not bind IPv4 address")) {
    throw new SwarmError("DATABASE_UNAVAILABLE", `Cannot start Postgres: port ${port} is in use`, {
      hint: "Stop the program that listens on it, or choose another port.",
    });
  }
  const lastLines = log.trim().split("\n").slice(-5).join(" | ");
  throw new SwarmError("DATABASE_UNAVAILABLE", `Cannot start Postgres: ${lastLines}`, {
    hint: `Read the whole log: ${postmaster.logFile}`,
  });
}

/** Stops the server if it runs, disconnects its clients and rolls back open transactions. */
export async function stopPostmaster(postmaster: Postmaster): Promise<void> {
  const pid = await readPostmasterPid(postmaster.pgData);
  if (pid === null || !await isPostgres(pid)) return;
  const { ok, output } = await pgCtl(postmaster, "stop", ["-m", "fast"]);
  // The server may have ended between the check and the command.
  if (!ok && await isPostgres(pid)) {
    throw new SwarmError("DATABASE_UNAVAILABLE", `Cannot stop Postgres (pid ${pid}): ${output}`);
  }
}

/** Tells the server to stop, without waiting for that. Only Linux says whose the id is at once. */
export function interruptPostmaster(pgData: string): void {
  try {
    const pid = Number.parseInt(Deno.readTextFileSync(`${pgData}/postmaster.pid`), 10);
    if (Deno.readTextFileSync(`/proc/${pid}/comm`).startsWith("postgres")) Deno.kill(pid, "SIGINT");
  } catch {
    // It does not run.
  }
}

function pgCtl({ prefix, user, pgData }: Postmaster, action: string, args: readonly string[]) {
  return user.run([
    `${prefix.binDir}/pg_ctl`,
    action,
    "-D",
    pgData,
    "-w",
    "-t",
    String(TIMEOUT_SECONDS),
    ...args,
  ]);
}

async function readPostmasterPid(pgData: string): Promise<number | null> {
  try {
    const pid = Number.parseInt(await Deno.readTextFile(`${pgData}/postmaster.pid`), 10);
    return Number.isInteger(pid) ? pid : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** After a crash, the id in `postmaster.pid` may belong to another program. */
async function isPostgres(pid: number): Promise<boolean> {
  if (Deno.build.os === "linux") {
    const name = await Deno.readTextFile(`/proc/${pid}/comm`).catch(() => "");
    return name.trim().startsWith("postgres");
  }
  return (await tryProgram(["ps", "-p", String(pid), "-o", "comm="])).stdout.includes("postgres");
}
