import { waitFor } from "../../scripts/wait_for.ts";
import { withPoolMode } from "../../shared/platform/config/pooling.ts";
import type { NativeCluster } from "../../stack/native/native_cluster.ts";
import { serverUser } from "../../stack/native/server_user.ts";

/** The program: that of `SUPASWARM_TEST_PGBOUNCER`, or the installed one. */
const PROGRAM = Deno.env.get("SUPASWARM_TEST_PGBOUNCER") ?? "/usr/sbin/pgbouncer";

/** A PgBouncer in transaction mode before a cluster. */
export interface Pgbouncer extends AsyncDisposable {
  /** As `postgres`, marked as a transaction pooler's. */
  readonly url: string;
}

/** The version of PgBouncer, or null where it is not installed. */
export async function pgbouncerVersion(): Promise<string | null> {
  try {
    const { stdout } = await new Deno.Command(PROGRAM, { args: ["--version"] }).output();
    return /PgBouncer (\S+)/.exec(new TextDecoder().decode(stdout))?.[1] ?? null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/**
 * Starts PgBouncer with fewer connections to the server than its clients have. Any role of the
 * server logs in with its password.
 */
export async function startPgbouncer({ url, adminUrl }: NativeCluster): Promise<Pgbouncer> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm_pgbouncer_" });
  const server = new URL(adminUrl);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const pidFile = `${folder}/pgbouncer.pid`;
  await Deno.writeTextFile(`${folder}/users`, `"${server.username}" "${server.password}"\n`);
  await Deno.writeTextFile(
    `${folder}/pgbouncer.ini`,
    `[databases]
postgres = host=127.0.0.1 port=${server.port} dbname=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${folder}/users
auth_user = ${server.username}
auth_query = select rolname, rolpassword from pg_catalog.pg_authid where rolname = $1
pool_mode = transaction
default_pool_size = 4
logfile = ${folder}/log
pidfile = ${pidFile}
`,
  );
  const user = await serverUser();
  await user.own(folder);
  const { ok, output } = await user.run([PROGRAM, "--daemon", `${folder}/pgbouncer.ini`]);
  if (!ok) throw new Error(`PgBouncer did not start: ${output}`);
  const pid = await waitFor(
    async () => Number(await Deno.readTextFile(pidFile).catch(() => "")) || null,
    { what: "PgBouncer" },
  );
  const pooled = new URL(url);
  pooled.port = String(port);
  return {
    url: withPoolMode(pooled.href, "transaction"),
    async [Symbol.asyncDispose]() {
      Deno.kill(pid, "SIGKILL");
      await Deno.remove(folder, { recursive: true });
    },
  };
}
