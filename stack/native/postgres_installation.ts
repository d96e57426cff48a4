import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { runProgram } from "./run_program.ts";

/** A Postgres installation on the machine. */
export interface PostgresInstallation {
  /** As `pg_config` prints it, for example `PostgreSQL 15.18 (Debian 15.18-0+deb12u1)`. */
  readonly version: string;
  readonly major: number;
  readonly pgConfig: string;
  readonly binDir: string;
  /** Folder of data files. Its folder `extension` holds control files. */
  readonly shareDir: string;
  /** Folder of loadable modules. */
  readonly moduleDir: string;
}

/**
 * Reads the folders of a Postgres installation from its `pg_config`.
 *
 * @throws SwarmError `CONFIG_INVALID` when `pg_config` cannot be run, or when there is no server.
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
      `Cannot use ${version}: ${binDir} must hold a PostgreSQL server of version 15 or later`,
    );
  }
  return { version, major, pgConfig, binDir, shareDir, moduleDir };
}

/** Whether the installation has pgvector. */
export function hasPgvector(installation: PostgresInstallation): Promise<boolean> {
  return exists(`${installation.shareDir}/extension/vector.control`);
}

/** Whether a file or folder exists at `path`. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
