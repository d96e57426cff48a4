import { type NativeCluster, startNativeCluster } from "../../../stack/native/native_cluster.ts";
import { findNativePrefix } from "../../../stack/native/native_prefix.ts";
import { fillMigrated } from "../../postgres/native_server.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { createSql, type Sql } from "../../../shared/platform/db/sql_client.ts";

/** A query of the test may lose its answer when the server dies. */
const ANSWER_TIMEOUT_MS = 3_000;

/** A native server of a chaos run, which dies once and restarts on the same port. */
export class ChaosDatabase implements AsyncDisposable {
  readonly #dataDir: string;
  #cluster: NativeCluster;
  #sql: Sql;
  #admin: Sql;
  #deadlocks = 0;
  /** When it stopped and restarted, in milliseconds since the epoch. */
  readonly outages: { readonly beganAtMs: number; readonly endedAtMs: number }[] = [];

  private constructor(dataDir: string, cluster: NativeCluster) {
    this.#dataDir = dataDir;
    this.#cluster = cluster;
    [this.#sql, this.#admin] = openPools(cluster);
  }

  /** A new server with the project's migrations. */
  static async start(): Promise<ChaosDatabase> {
    const dataDir = await Deno.makeTempDir({ prefix: "supaswarm_chaos_" });
    await fillMigrated(dataDir);
    const cluster = await startNativeCluster({
      prefix: await findNativePrefix(),
      dataDir,
      port: 0,
    });
    return new ChaosDatabase(dataDir, cluster);
  }

  get url(): string {
    return this.#cluster.url;
  }

  /** As `postgres`. Get it again after a restart. */
  get sql(): Sql {
    return this.#sql;
  }

  /** Whether a worker's right to write to a task has passed to another, or the task has ended. */
  async isLeaseOver(taskId: string, epoch: string): Promise<boolean> {
    const rows = await answered(() =>
      this.#sql`
      select from public.tasks
      where id = ${taskId}::uuid and (epoch <> ${epoch}::bigint or status <> 'running')`
    );
    return rows !== null && rows.length > 0;
  }

  /** Ends the connections of a worker's store, and one of the connections for tools and listening. */
  async cutConnections(workerId: string): Promise<boolean> {
    const rows = await answered(() =>
      this.#admin`
      select pg_terminate_backend(pid)
      from (
        select pid from pg_stat_activity where application_name = ${workerId}
        union all
        (
          select pid from pg_stat_activity
          where application_name in ('supaswarm-worker-tools', 'supaswarm-worker listener')
          order by random() limit 1
        )
      ) as backend`
    );
    return rows !== null && rows.length > 0;
  }

  /** Stops the server without notifying clients and without a checkpoint, and starts it again. */
  async crashAndRestart(): Promise<void> {
    const beganAtMs = Date.now();
    const pools = [this.#sql, this.#admin];
    const pidFile = `${this.#dataDir}/pgdata/postmaster.pid`;
    const port = Number(new URL(this.url).port);
    Deno.kill(this.#cluster.pid, "SIGQUIT");
    await waitFor(() => Deno.stat(pidFile).then(() => false, () => true), {
      what: "Postgres to shut down",
    });
    this.#deadlocks += await this.#deadlocksInLog();
    this.#cluster = await startNativeCluster({
      prefix: await findNativePrefix(),
      dataDir: this.#dataDir,
      port,
    });
    [this.#sql, this.#admin] = openPools(this.#cluster);
    this.outages.push({ beganAtMs, endedAtMs: Date.now() });
    await Promise.all(pools.map((pool) => pool.end({ timeout: 0 }).catch(() => {})));
  }

  /** The number of deadlock victims, including retried statements. */
  async deadlockCount(): Promise<number> {
    return this.#deadlocks + await this.#deadlocksInLog();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#sql.end({ timeout: 1 }), this.#admin.end({ timeout: 1 })]);
    await this.#cluster.stop();
    await Deno.remove(this.#dataDir, { recursive: true });
  }

  /** A restart begins a new log. */
  async #deadlocksInLog(): Promise<number> {
    const log = await Deno.readTextFile(`${this.#dataDir}/postgres.log`);
    return log.split("ERROR:  deadlock detected").length - 1;
  }
}

function openPools({ url, adminUrl }: NativeCluster): [Sql, Sql] {
  return [
    createSql(url, { maxConnections: 6, applicationName: "chaos" }),
    createSql(adminUrl, { maxConnections: 2, applicationName: "chaos-admin" }),
  ];
}

/** The answer, or null while the server was down. */
async function answered<T>(query: () => PromiseLike<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ANSWER_TIMEOUT_MS);
  });
  try {
    return await Promise.race([query(), timeout]);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
