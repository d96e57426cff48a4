import { SwarmError } from "../../shared/errors/swarm_error.ts";
import { runProgram } from "./run_program.ts";

/** A Postgres that the machine has. */
export interface PostgresInstallation {
  /** As `pg_config` says it, for example `PostgreSQL 15.18 (Debian 15.18-0+deb12u1)`. */
  readonly version: string;
  readonly major: number;
  readonly pgConfig: string;
  readonly binDir: string;
  /** Data files; its folder `extension` holds control files. */
  readonly shareDir: string;
  /** Loadable modules. */
  readonly moduleDir: string;
}

/**
 * Asks a `pg_config` where its Postgres lies.
 *
 * @throws SwarmError `CONFIG_INVALID` when it cannot be run or has no server.
 */
export async function readInstallation(pgConfig: string): Promise<PostgresInstallation> {
  const version = await runProgram([pgConfig, "--version"]);
  const [binDir, shareDir, moduleDir] = await Promise.all([
    runProgram([pgConfig, "--bindir"]),
    runProgram([pgConfig, "--sharedir"]),
    runProgram([pgConfig, "--pkglibdir"]),
  ]);
  const major = Number(version.match(/\s(\d+)/)?.[1]);
  if (!(major >= 15) || !await exists(`${binDir}/postgres`)) {
    throw new SwarmError(
      "CONFIG_INVALID",
      `Cannot use ${version}: a PostgreSQL server of version 15 or later is needed in ${binDir}`,
    );
  }
  return { version, major, pgConfig, binDir, shareDir, moduleDir };
}

/** Whether the installation itself has pgvector. */
export function hasPgvector(installation: PostgresInstallation): Promise<boolean> {
  return exists(`${installation.shareDir}/extension/vector.control`);
}

/** Whether there is something at `path`. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
