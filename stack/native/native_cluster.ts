import { basename, dirname } from "node:path";
import { atExit } from "../at_exit.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { platformHash } from "../platform/platform_files.ts";
import { newPassword, readClusterFile, writeClusterFile } from "./cluster_file.ts";
import { type NativePrefix, placeExtensions } from "./native_prefix.ts";
import { exists } from "./postgres_installation.ts";
import {
  interruptPostmaster,
  type Postmaster,
  startPostmaster,
  stopPostmaster,
} from "./postmaster.ts";
import { initCluster, type NewCluster, preparePlatform } from "./prepare_cluster.ts";
import { requireReachable, type ServerUser, serverUser } from "./server_user.ts";

interface NativeClusterOptions {
  /** From `findNativePrefix()`. */
  readonly prefix: NativePrefix;
  /** The cluster's folder. It is created and prepared if it does not exist. */
  readonly dataDir: string;
  /** TCP port on 127.0.0.1. 0 takes any free port. */
  readonly port: number;
}

/** A running cluster with the platform's roles, schemas and extensions. */
export interface NativeCluster {
  /** Connection string as `postgres`, which is not a superuser, as on a hosted project. */
  readonly url: string;
  /** Connection string as the superuser `supabase_admin`, for the platform itself. */
  readonly adminUrl: string;
  /** Process id of the server. */
  readonly pid: number;
  /** Shuts the server down. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts a private cluster, and first creates and prepares it if the folder is new. Stops a server
 * that a killed process left running on the same folder. The caller must ensure that no other
 * running process uses the folder.
 *
 * @throws SwarmError `CONFIG_INVALID` when the folder belongs to another major version, or when the
 * server's user cannot enter it; `DATABASE_UNAVAILABLE` when the server does not start.
 */
export async function startNativeCluster(options: NativeClusterOptions): Promise<NativeCluster> {
  const { prefix } = options;
  await Deno.mkdir(options.dataDir, { recursive: true });
  const dataDir = await Deno.realPath(options.dataDir);
  const pgData = `${dataDir}/pgdata`;
  const user = await serverUser();
  await admitToOwnFolders(user, dataDir);
  await requireReachable(user, dataDir, "SUPASWARM_DATA_DIR");
  await requireReachable(user, prefix.binDir, "SUPASWARM_NATIVE_PREFIX");
  await requireSameMajor(pgData, prefix);
  await placeExtensions(prefix.extensionDir);

  const postmaster = { prefix, user, pgData, logFile: `${dataDir}/postgres.log` };
  await stopPostmaster(postmaster);
  await startLog(postmaster);
  const known = await readClusterFile(`${dataDir}/cluster.json`);
  const cluster = { prefix, user, dataDir, pgData, password: known?.password ?? newPassword() };
  if (known === null) await initCluster(cluster);

  const port = options.port === 0 ? freePort() : options.port;
  const release = atExit(() => interruptPostmaster(pgData));
  const pid = await startPostmaster(postmaster, port);
  const urlOf = (role: string) =>
    `postgresql://${role}:${cluster.password}@127.0.0.1:${port}/postgres`;
  if (known === null) await finishCluster(cluster, postmaster, urlOf("supabase_admin"));
  return {
    url: urlOf("postgres"),
    adminUrl: urlOf("supabase_admin"),
    pid,
    stop: async () => {
      await stopPostmaster(postmaster);
      release();
    },
  };
}

/** Lets the server's user pass through the folders above the data that the stack itself created. */
async function admitToOwnFolders(user: ServerUser, dataDir: string): Promise<void> {
  await user.admit(dataDir);
  for (let folder = dirname(dataDir); folder !== dirname(folder); folder = dirname(folder)) {
    if (/^\.?supaswarm/.test(basename(folder))) await user.admit(folder);
  }
}

async function finishCluster(
  cluster: NewCluster,
  postmaster: Postmaster,
  adminUrl: string,
): Promise<void> {
  try {
    await preparePlatform(cluster, adminUrl);
  } catch (error) {
    await stopPostmaster(postmaster);
    throw error;
  }
  await writeClusterFile(`${cluster.dataDir}/cluster.json`, {
    password: cluster.password,
    platform_hash: await platformHash(),
  });
}

async function requireSameMajor(pgData: string, prefix: NativePrefix): Promise<void> {
  if (!await exists(`${pgData}/PG_VERSION`)) return;
  const found = Number(await Deno.readTextFile(`${pgData}/PG_VERSION`));
  if (found === prefix.major) return;
  throw new SwarmError(
    "CONFIG_INVALID",
    `Cannot start PostgreSQL ${prefix.major} on ${pgData}: its data has version ${found}`,
    { hint: `Install PostgreSQL ${found}, or choose another data folder.` },
  );
}

/** Starts an empty log file that the server's user can write to. */
async function startLog({ logFile, user }: Postmaster): Promise<void> {
  await Deno.writeTextFile(logFile, "", { mode: 0o600 });
  await user.own(logFile);
}

/** Returns a port that was free just now. Postgres itself cannot choose one. */
function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  try {
    return listener.addr.port;
  } finally {
    listener.close();
  }
}
