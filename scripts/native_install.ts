import { resolve } from "node:path";
import { SwarmError } from "../shared/platform/errors/swarm_error.ts";
import { runCommand } from "./cli/run_command.ts";
import { writeLine, writeProgress } from "./terminal.ts";
import { buildPgvector } from "../stack/native/build_pgvector.ts";
import {
  distributionMajor,
  hasApt,
  installPackages,
  isAvailable,
  updateLists,
} from "../stack/native/debian_packages.ts";
import { createPrefix, isPrefixCurrent } from "../stack/native/create_prefix.ts";
import {
  defaultPrefixPath,
  findNativePrefix,
  placeExtensions,
} from "../stack/native/native_prefix.ts";
import {
  exists,
  hasPgvector,
  type PostgresInstallation,
  readInstallation,
} from "../stack/native/postgres_installation.ts";

/** Sets up native Postgres for `--db native` and the concurrency tests. Safe to repeat. */
async function install(path: string): Promise<PostgresInstallation> {
  const installation = await hasApt() ? await installWithApt(path) : await findWithPgvector();
  if (await isPrefixCurrent(path, installation)) {
    const { extensionDir } = await findNativePrefix(path);
    await placeExtensions(extensionDir);
    return installation;
  }
  if (await hasPgvector(installation)) {
    await createPrefix(path, installation, null);
    return installation;
  }
  const workDir = await Deno.makeTempDir({ prefix: "supaswarm_pgvector_" });
  try {
    writeProgress("building pgvector");
    await createPrefix(path, installation, await buildPgvector(installation, workDir));
  } finally {
    await Deno.remove(workDir, { recursive: true });
  }
  return installation;
}

/** Installs the apt packages unless the prefix is already up to date. */
async function installWithApt(path: string): Promise<PostgresInstallation> {
  const installed = await installedMajor();
  if (installed !== null) {
    const installation = await readInstallation(debianPgConfig(installed));
    if (await isPrefixCurrent(path, installation)) return installation;
  }
  writeProgress("installing packages");
  await updateLists();
  const major = installed ?? await distributionMajor();
  const packages = [
    `postgresql-${major}`,
    `postgresql-${major}-pgtap`,
    `postgresql-${major}-plpgsql-check`,
  ];
  const pgvectorPackage = `postgresql-${major}-pgvector`;
  const buildPackages = [`postgresql-server-dev-${major}`, "build-essential", "dpkg-dev"];
  const needed = await isAvailable(pgvectorPackage) ? [pgvectorPackage] : buildPackages;
  await installPackages([...packages, ...needed]);
  return await readInstallation(debianPgConfig(major));
}

/** Returns the newest major version with an installed Debian server package, or null. */
async function installedMajor(): Promise<number | null> {
  const folder = "/usr/lib/postgresql";
  if (!await exists(folder)) return null;
  const majors: number[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const hasServer = await exists(`${folder}/${entry.name}/bin/postgres`) &&
      await exists(`${folder}/${entry.name}/bin/pg_config`);
    if (hasServer && Number(entry.name) >= 15) majors.push(Number(entry.name));
  }
  return majors.length === 0 ? null : Math.max(...majors);
}

function debianPgConfig(major: number): string {
  return `/usr/lib/postgresql/${major}/bin/pg_config`;
}

async function findWithPgvector(): Promise<PostgresInstallation> {
  const installation = await readInstallation("pg_config");
  if (await hasPgvector(installation)) return installation;
  throw new SwarmError("CONFIG_INVALID", `Cannot use ${installation.version}: it has no pgvector`, {
    hint: "Install pgvector with the system's package manager.",
  });
}

if (import.meta.main) {
  await runCommand({
    name: "deno task native:install",
    summary:
      "Sets up native Postgres with pgvector and SupaSwarm's extensions in a private folder.",
    options: {
      prefix: {
        type: "string",
        placeholder: "FOLDER",
        help: "Where to put it (default: SUPASWARM_NATIVE_PREFIX or .supaswarm/native/prefix).",
      },
      json: { type: "boolean", help: "Print the result as one line of JSON." },
    },
  }, async ({ values }) => {
    const path = resolve(values.prefix ?? defaultPrefixPath());
    const { version } = await install(path);
    writeLine(
      values.json ? JSON.stringify({ ok: true, prefix: path, version }) : `${version} at ${path}`,
    );
  });
}
