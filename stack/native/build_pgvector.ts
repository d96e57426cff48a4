import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { debianMirror } from "./debian_packages.ts";
import type { BuiltPgvector } from "./create_prefix.ts";
import type { PostgresInstallation } from "./postgres_installation.ts";
import { runProgram } from "./run_program.ts";

/** The Debian release whose source package of pgvector (0.8.0) builds against Postgres 15. */
const SOURCE_RELEASE = "trixie";
const DEBIAN_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/**
 * Builds pgvector from Debian's source package inside `workDir`, for an installation without it.
 * Does not change the machine's package lists.
 *
 * @throws SwarmError `CONFIG_INVALID` when the download or the build fails.
 */
export async function buildPgvector(
  installation: PostgresInstallation,
  workDir: string,
): Promise<BuiltPgvector> {
  await downloadSource(workDir);
  const sourceFile = await findEntry(workDir, /^pgvector_.*\.dsc$/);
  await runProgram(["dpkg-source", "--no-check", "-x", sourceFile, "source"], { cwd: workDir });
  const make: readonly [string, ...string[]] = [
    "make",
    `PG_CONFIG=${installation.pgConfig}`,
    "OPTFLAGS=", // no -march=native: the result may run on another machine
    "with_llvm=no",
  ];
  await runProgram(make, { cwd: `${workDir}/source` });
  await runProgram([...make, "install", `DESTDIR=${workDir}/built`], { cwd: `${workDir}/source` });
  return {
    moduleDir: `${workDir}/built${installation.moduleDir}`,
    extensionDir: `${workDir}/built${installation.shareDir}/extension`,
  };
}

/** Downloads the source package with a private apt configuration that has one source list. */
async function downloadSource(workDir: string): Promise<void> {
  await Deno.mkdir(`${workDir}/lists/partial`, { recursive: true });
  await Deno.mkdir(`${workDir}/cache/archives/partial`, { recursive: true });
  await Deno.writeTextFile(
    `${workDir}/sources.list`,
    `deb-src [signed-by=${DEBIAN_KEYRING}] ${await debianMirror()} ${SOURCE_RELEASE} main\n`,
  );
  const apt = (...args: string[]) =>
    runProgram([
      "apt-get",
      ...aptOptions({
        "Dir::Etc::sourcelist": `${workDir}/sources.list`,
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": `${workDir}/lists`,
        "Dir::Cache": `${workDir}/cache`,
        "APT::Sandbox::User": "root",
      }),
      ...args,
    ], { cwd: workDir });
  await apt("update");
  await apt("source", "--download-only", "pgvector");
}

function aptOptions(options: Readonly<Record<string, string>>): string[] {
  return Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
}

async function findEntry(folder: string, name: RegExp): Promise<string> {
  for await (const entry of Deno.readDir(folder)) {
    if (name.test(entry.name)) return entry.name;
  }
  throw new SwarmError("CONFIG_INVALID", "Cannot build pgvector: apt downloaded no source package");
}
