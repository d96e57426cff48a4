import type { Sql } from "../../shared/platform/db/sql_client.ts";

/** What a database server has used since it started. */
export interface ServerUse {
  /** Milliseconds of CPU of all its processes, also of those that have ended. */
  readonly cpuMs: number;
  /** Bytes of WAL. */
  readonly walBytes: number;
}

/** Linux counts CPU time of processes in hundredths of a second. */
const MS_PER_TICK = 10;

/** Reads what a server of this machine has used. Linux only. */
export async function readServerUse(sql: Sql): Promise<ServerUse> {
  const [row] = await sql<{ pid: number; wal: number }[]>`
    select split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int as pid,
      (pg_current_wal_insert_lsn() - '0/0')::float8 as wal`;
  if (row === undefined) throw new Error("Cannot find the server's process");
  let ticks = 0;
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    // A process may end meanwhile; its time is then the server's.
    const stat = await Deno.readTextFile(`/proc/${name}/stat`).catch(() => "");
    // The name in parentheses may contain spaces. Then: state, parent, …, times.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ").map(Number);
    const isServer = Number(name) === row.pid;
    if (!isServer && fields[1] !== row.pid) continue;
    const [own, ended] = [
      (fields[11] ?? 0) + (fields[12] ?? 0),
      (fields[13] ?? 0) + (fields[14] ?? 0),
    ];
    ticks += own + (isServer ? ended : 0);
  }
  return { cpuMs: ticks * MS_PER_TICK, walBytes: row.wal };
}
