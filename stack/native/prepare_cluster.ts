import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { platformSql } from "../platform/platform_files.ts";
import type { NativePrefix } from "./native_prefix.ts";
import { exists } from "./postgres_installation.ts";
import type { ServerUser } from "./server_user.ts";

/** Marks a data folder that the stack created until `initdb` and the platform SQL have finished. */
const UNFINISHED_MARK = "unfinished";

/** Settings of every cluster that differ from the server's defaults. */
const SERVER_SETTINGS = `
# Set by SupaSwarm
timezone = 'UTC'
log_timezone = 'UTC'
wal_level = logical
max_connections = 100
password_encryption = 'scram-sha-256'
`;

/** A cluster to create. */
export interface NewCluster {
  readonly prefix: NativePrefix;
  readonly user: ServerUser;
  /** The folder of this cluster. It is empty or holds an unfinished cluster. */
  readonly dataDir: string;
  readonly pgData: string;
  readonly password: string;
}

/**
 * Runs `initdb` with the bootstrap superuser `supabase_admin`. First removes what an interrupted
 * first start left behind.
 *
 * @throws SwarmError `CONFIG_INVALID` when the stack did not create the content of the folder.
 */
export async function initCluster(cluster: NewCluster): Promise<void> {
  const { dataDir, pgData, user } = cluster;
  if (await exists(pgData)) {
    if (!await exists(`${dataDir}/${UNFINISHED_MARK}`)) {
      throw new SwarmError("CONFIG_INVALID", `Cannot use ${pgData}: it was not made by SupaSwarm`, {
        hint: "Choose another data folder.",
      });
    }
    await Deno.remove(pgData, { recursive: true });
  }
  await Deno.writeTextFile(`${dataDir}/${UNFINISHED_MARK}`, "");
  const passwordFile = `${dataDir}/initial_password`;
  await Deno.writeTextFile(passwordFile, `${cluster.password}\n`, { mode: 0o600 });
  await Deno.mkdir(pgData, { mode: 0o700 });
  await user.own(passwordFile);
  await user.own(pgData);
  const { ok, output } = await user.run([
    `${cluster.prefix.binDir}/initdb`,
    `--pgdata=${pgData}`,
    "--username=supabase_admin",
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    // initdb need not sync: because of the marker above, an interrupted one starts over.
    "--no-sync",
  ]);
  await Deno.remove(passwordFile);
  if (!ok) {
    throw new SwarmError("DATABASE_UNAVAILABLE", `Cannot create a Postgres cluster: ${output}`);
  }
  await Deno.writeTextFile(`${pgData}/postgresql.conf`, SERVER_SETTINGS, { append: true });
}

/** Runs the platform SQL on a new cluster as `supabase_admin`, and lets `postgres` log in. */
export async function preparePlatform(cluster: NewCluster, adminUrl: string): Promise<void> {
  const sql = createSql(adminUrl, { maxConnections: 1, applicationName: "supaswarm-platform" });
  try {
    for (const file of await platformSql()) {
      await sql.unsafe(file.sql).simple().catch((cause) => {
        throw new SwarmError("INTERNAL", `Cannot run platform SQL ${file.name}: ${cause.message}`, {
          cause,
        });
      });
    }
    await sql.unsafe(`alter role postgres password '${cluster.password}'`);
  } finally {
    await sql.end({ timeout: 5 });
  }
  await Deno.remove(`${cluster.dataDir}/${UNFINISHED_MARK}`);
}
