import { definedOnly } from "../shared/platform/values/defined_only.ts";
import type { JsonValue } from "../shared/platform/values/json.ts";
import type { OpenLogger as Logger } from "../shared/platform/log/logger.ts";
import { SwarmError } from "../shared/platform/errors/swarm_error.ts";
import { loadSupabaseLite, loadSupabaseLitePostgres } from "./deps.ts";
import { cacheFolder } from "./cache_folder.ts";
import { openDatabase } from "./open_database.ts";
import type { ReportDoing, StackDatabase } from "./database/database_port.ts";
import { ensureKeys, type StackKeys } from "./keys/keys.ts";
import { protectProcess } from "./database/protect_process.ts";
import { applyMigrations, type MigrationRun } from "./migrations/apply_migrations.ts";
import { watchMigrations } from "./migrations/watch_migrations.ts";
import { startCron } from "./scheduler/cron.ts";
import { startNet } from "./scheduler/net.ts";
import { assertWritable } from "./assert_writable.ts";
import { assertPortFree } from "./assert_port_free.ts";
import {
  type Environment,
  type FunctionLimits,
  functionLimits,
  readEnvironment,
  startLimitMs,
} from "./stack_environment.ts";
import { type LocalCallers, localCallers } from "./local_callers.ts";
import type { FunctionUsage } from "./functions/isolate_pool.ts";
import { canReadThreadCpu } from "./functions/thread_cpu.ts";
import { startEndpoints } from "./start_endpoints.ts";
import { Boot, type BootProgress } from "./boot.ts";
import { StopSequence } from "./stop_sequence.ts";

/** Receives one log line, ready for `JSON.stringify`. */
export type StackLog = (line: Readonly<Record<string, JsonValue | undefined>>) => void;

/** Options of {@linkcode startStack}. */
export interface StackOptions {
  /** `pglite`, `native`, or the URL of a prepared Postgres. */
  readonly db: string;
  /** Port of the API on 127.0.0.1. 0 takes any free port. */
  readonly port: number;
  /** Port of the database on 127.0.0.1. Ignored when `db` is a URL. @default 0: any free port */
  readonly databasePort?: number;
  /** Folder of data, keys and files; null deletes them when the stack stops. */
  readonly dataDir: string | null;
  /**
   * Only for native Postgres without a data folder: whether writes wait for the disk. @default false
   */
  readonly syncsWrites?: boolean;
  /** @default the keys in the folder of the data, or new ones without a folder */
  readonly keys?: StackKeys;
  /** The folder with `.env` and `supabase/`. */
  readonly projectRoot: string;
  /** Reloads functions when their code changes, and applies migrations that are saved. */
  readonly watch: boolean;
  readonly onLog: StackLog;
  /** Ends the start when it aborts. A running stack is ended with `stop()`. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: BootProgress) => void;
  /** Called when the database has ended and cannot be restarted. @default logs the error */
  readonly onFailure?: (error: SwarmError) => void;
  /** @default the variables of the process and of the project's `.env` */
  readonly env?: Environment;
  /** Returns variables for functions, in addition to the platform's. @default none */
  readonly functionSettings?: (environment: Environment, limits: FunctionLimits) => Environment;
  /** Starts additional services of the project while the database boots. @default none */
  readonly startCompanion?: (stops: StopSequence) => Promise<StackCompanion>;
}

/** Additional services of a project. */
export interface StackCompanion {
  /** Prepares the migrated database, before scheduled jobs run and functions are called. */
  prepare(stack: { readonly dbUrl: string; readonly apiUrl: string }): Promise<void>;
}

/** A running stack. */
export interface Stack {
  /** The project URL that clients use, such as `http://127.0.0.1:54321`. */
  readonly apiUrl: string;
  /** Connection string as role `postgres`. */
  readonly dbUrl: string;
  readonly publishableKey: string;
  readonly secretKey: string;
  /** Names of the edge functions. */
  readonly functions: readonly string[];
  /** Who may use the API besides programs of this machine and pages of loopback origins. */
  readonly callers: LocalCallers;
  readonly functionLimits: FunctionLimits & {
    /** False where the operating system does not report the CPU time of a thread. */
    readonly isCpuEnforced: boolean;
  };
  /** Returns what the isolates of a function have used since the start. */
  functionUsage(name: string): FunctionUsage;
  /** Time from the call of `startStack()` until the stack served. */
  readonly bootMs: number;
  /** Stops everything within seconds. Safe to repeat. */
  stop(): Promise<void>;
}

/**
 * Starts Supabase on this machine and resolves when it accepts requests.
 *
 * @throws SwarmError CONFIG_INVALID for a busy port or a bad setting, DATABASE_UNAVAILABLE for a
 * data folder that is in use or damaged, a missing binary, or a database that does not answer; the
 * reason of the signal. Everything already started is stopped first.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const startedAt = performance.now();
  const log = toLogger(options.onLog);
  const stops = new StopSequence(log);
  const environment = options.env ?? await readEnvironment(options.projectRoot);
  using boot = new Boot({ ...options, limitMs: startLimitMs(environment) });
  const unprotect = protectProcess(({ message }) =>
    log("warn", "database_connection_lost", { reason: message })
  );
  const stop = () => stops.run().finally(unprotect);
  try {
    const parts = await startParts(options, { environment, log, stops, boot });
    return {
      ...parts,
      bootMs: Math.round(performance.now() - startedAt),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Shared by all steps of the start. */
interface StartContext {
  readonly environment: Environment;
  readonly boot: Boot;
  readonly log: Logger;
  readonly stops: StopSequence;
}

async function startParts(
  options: StackOptions,
  context: StartContext,
): Promise<Omit<Stack, "bootMs" | "stop">> {
  const { projectRoot, dataDir } = options;
  const { environment, boot, log, stops } = context;
  const callers = localCallers(environment);
  assertPortFree(options.port);
  if (!isUrl(options.db)) assertPortFree(options.databasePort ?? 0);
  if (dataDir !== null) await assertWritable(dataDir);
  preloadGateway();
  const [keys, companion, database] = await boot.run("Opening the database", (report) =>
    inParallel(
      Promise.resolve(options.keys ?? ensureKeys(dataDir)),
      Promise.resolve(options.startCompanion?.(stops)),
      open(options, context, report),
    ));
  boot.follow(database);
  const limits = functionLimits(environment);
  const [endpoints] = await boot.run(
    "Applying migrations and starting the endpoints",
    (report) =>
      inParallel(
        startEndpoints({
          ...options,
          database,
          keys,
          callers,
          functionSettings: options.functionSettings?.(environment, limits) ?? {},
          functionLimits: limits,
          log,
          stops,
        }),
        migrate(database, projectRoot, { signal: boot.signal, report }),
      ),
  );
  if (options.watch) {
    stops.add("migrations", watchMigrations(database, projectRoot, log));
  }
  const { apiUrl, functions } = endpoints;
  await boot.run("Preparing the project", async () => {
    await companion?.prepare({ dbUrl: database.url, apiUrl });
  });
  await boot.run(
    "Starting schedules and the API",
    () => inParallel(startSchedulers(database, context), endpoints.warm()),
  );
  return {
    apiUrl,
    dbUrl: database.url,
    publishableKey: keys.publishableKey,
    secretKey: keys.secretKey,
    functions: functions.names,
    callers,
    functionLimits: { ...limits, isCpuEnforced: canReadThreadCpu() },
    functionUsage: (name) => functions.usageOf(name),
  };
}

/** Like `Promise.all`, but rejects only after all works have settled, so that none starts more. */
async function inParallel<const Works extends readonly Promise<unknown>[]>(
  ...works: Works
): Promise<{ -readonly [Index in keyof Works]: Awaited<Works[Index]> }> {
  await Promise.allSettled(works);
  return await Promise.all(works);
}

/** Loads the gateway's large packages while the database boots. The gateway reports load errors. */
function preloadGateway(): void {
  Promise.all([loadSupabaseLite(), loadSupabaseLitePostgres()]).catch(() => {});
}

async function open(
  { db, dataDir, projectRoot, databasePort: port, syncsWrites, onFailure }: StackOptions,
  { environment, boot, log, stops }: StartContext,
  report: ReportDoing,
): Promise<StackDatabase> {
  const database = await openDatabase({
    db,
    dataDir,
    projectRoot,
    log,
    cacheDir: await cacheFolder(environment["SUPASWARM_CACHE_DIR"]),
    signal: boot.signal,
    report,
    onFailure: (error) => {
      boot.fail(error);
      if (onFailure) onFailure(error);
      else log("error", "database.failed", { reason: error.message });
    },
    ...definedOnly({ port, syncsWrites }),
  });
  stops.add("database", () => database.stop());
  return database;
}

/** @throws SwarmError CONFIG_INVALID when a migration was edited after it was applied. */
async function migrate(
  database: StackDatabase,
  projectRoot: string,
  run: MigrationRun,
): Promise<void> {
  const { edited } = await applyMigrations(database, projectRoot, run);
  if (edited.length === 0) return;
  const [first] = edited;
  const others = edited.length === 1 ? "" : ` and ${edited.length - 1} more`;
  throw new SwarmError(
    "CONFIG_INVALID",
    `Cannot start on this database: ${first}${others} changed after it was applied`,
    {
      hint:
        "Restore the file and write a new migration, start once with --reset, which deletes this " +
        "stack's data, or choose another data folder with SUPASWARM_DATA_DIR.",
    },
  );
}

function isUrl(db: string): boolean {
  return db !== "pglite" && db !== "native";
}

async function startSchedulers(
  database: StackDatabase,
  { log, stops }: StartContext,
): Promise<void> {
  const net = await startNet(database, log);
  stops.add("net", () => net.stop());
  const cron = startCron(database, log);
  stops.add("cron", () => cron.stop());
}

function toLogger(onLog: StackLog): Logger {
  return (level, event, fields = {}) =>
    onLog({ at: new Date().toISOString(), level, source: "stack", event, ...fields });
}
