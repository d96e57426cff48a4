import { join } from "node:path";
import { definedOnly } from "../shared/platform/values/defined_only.ts";
import { SwarmError } from "../shared/platform/errors/swarm_error.ts";
import { cacheFolder } from "./cache_folder.ts";
import type { Logger, ReportDoing, StackDatabase } from "./database/database_port.ts";
import { makeEphemeralFolder } from "./database/ephemeral_folder.ts";
import { endOrphan } from "./database/folder_lock.ts";
import { startPgliteDatabase } from "./database/pglite_database.ts";
import { migratedSnapshot } from "./migrated_snapshot.ts";
import { ensurePgliteFolder, platformSnapshot, writeBundles } from "./database/pglite_folder.ts";
import { openUrlDatabase } from "./database/url_database.ts";

/** The notification channels that the platform itself uses. */
const PLATFORM_CHANNELS: readonly string[] = [
  "pgrst",
  "supaswarm_cdc",
  "supaswarm_net",
  "supaswarm_realtime",
];

const DEFAULT_STATEMENT_LIMIT_MS = 30_000;

/** Which database to open, and where its data is. */
export interface OpenDatabaseOptions {
  /** `pglite`, `native`, or the URL of a prepared server. */
  readonly db: string;
  /**
   * Folder of the stack's data. Null keeps them in a temporary folder that `stop()` removes. Ignored
   * when `db` is a URL.
   */
  readonly dataDir: string | null;
  /** Port on 127.0.0.1. Ignored when `db` is a URL. @default 0: any free port */
  readonly port?: number;
  /** PGlite only: how long one statement may block all others. @default 30_000 */
  readonly statementLimitMs?: number;
  /**
   * Only without a data folder: start from a cached database in which this project's migrations and
   * seed are already applied.
   */
  readonly projectRoot?: string;
  /**
   * Only for native Postgres without a data folder: whether writes wait for the disk, as they do with
   * one. @default false
   */
  readonly syncsWrites?: boolean;
  /** PGlite only: channels to listen on in addition to {@linkcode PLATFORM_CHANNELS}. */
  readonly channels?: readonly string[];
  /** Folder of snapshots and extension bundles. @default that of {@linkcode cacheFolder} */
  readonly cacheDir?: string;
  readonly log: Logger;
  /** Ends the opening when it aborts. */
  readonly signal?: AbortSignal;
  /** @default nothing is reported */
  readonly report?: ReportDoing;
  /** Called once, when the database has ended and cannot be restarted. @default logs the error */
  readonly onFailure?: (error: SwarmError) => void;
}

/**
 * Opens the database of a stack. It has the platform's SQL and is ready for migrations.
 *
 * @throws SwarmError `DATABASE_UNAVAILABLE` when the folder is in use or damaged, when a binary
 * is missing, or when the server is not prepared; `CONFIG_INVALID` for an unknown `db`; any error
 * after the signal has aborted.
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<StackDatabase> {
  const { db } = options;
  if (db !== "pglite" && db !== "native" && !/^postgres(ql)?:\/\//.test(db)) {
    throw new SwarmError("CONFIG_INVALID", `Cannot open the database '${db}'`, {
      hint: "Use pglite, native, or a URL that starts with postgresql://.",
    });
  }
  if (db !== "pglite" && db !== "native") return await openUrlDatabase(db);
  const open = db === "native" ? openNative : openPglite;
  if (options.dataDir !== null) return await open(options.dataDir, options);
  const folder = await makeEphemeralFolder();
  try {
    return removeAtStop(await open(folder.path, options), folder.remove);
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

async function openNative(dataDir: string, options: OpenDatabaseOptions): Promise<StackDatabase> {
  const { projectRoot, log, signal, report } = options;
  // Imported here because the other kinds of database do not need it.
  const { startNativeDatabase } = await import("./database/native_database.ts");
  if (options.dataDir === null && projectRoot !== undefined) {
    const { copyMigratedCluster } = await import("./migrated_cluster.ts");
    const cacheDir = options.cacheDir ?? await cacheFolder();
    await copyMigratedCluster(join(dataDir, "native"), {
      projectRoot,
      cacheDir,
      log,
      ...definedOnly({ syncsWrites: options.syncsWrites, signal, report }),
    });
  }
  return await startNativeDatabase(dataDir, options.port ?? 0);
}

async function openPglite(folder: string, options: OpenDatabaseOptions): Promise<StackDatabase> {
  const { log, projectRoot, signal, report } = options;
  const dataDir = join(folder, "pglite");
  const cacheDir = options.cacheDir ?? await cacheFolder();
  await endOrphan(`${dataDir}.lock`);
  const bundles = await writeBundles(cacheDir);
  const serving = {
    bundles,
    log,
    channels: [...PLATFORM_CHANNELS, ...options.channels ?? []],
    statementLimitMs: options.statementLimitMs ?? DEFAULT_STATEMENT_LIMIT_MS,
    onFailure: options.onFailure ??
      ((error: SwarmError) => log("error", "database.failed", { reason: error.message })),
    ...definedOnly({ signal }),
  };
  const caching = { cacheDir, log, ...definedOnly({ signal, report }) };
  const platform = await platformSnapshot(bundles, caching);
  const snapshot = options.dataDir === null && projectRoot !== undefined
    ? await migratedSnapshot(platform, projectRoot, serving)
    : platform;
  await ensurePgliteFolder(dataDir, snapshot);
  return await startPgliteDatabase({ ...serving, dataDir, port: options.port ?? 0 });
}

function removeAtStop(database: StackDatabase, remove: () => Promise<void>): StackDatabase {
  return {
    kind: database.kind,
    url: database.url,
    adminUrl: database.adminUrl,
    onNotification: (channel, handler) => database.onNotification(channel, handler),
    onRestart: (handler) => database.onRestart(handler),
    stop: async () => {
      await database.stop();
      await remove().catch(() => {});
    },
  };
}
