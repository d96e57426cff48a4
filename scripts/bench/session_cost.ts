import type { Sql } from "../../shared/db/sql_client.ts";

/**
 * The processor time that one session of the server spends on a call, by the scheduler's clock of its
 * process: what else the machine does hardly counts. Linux only.
 */
export class SessionCost {
  readonly #schedstat: string;

  private constructor(processId: number) {
    this.#schedstat = `/proc/${processId}/schedstat`;
  }

  /** @param sql A pool of one connection, on a server of this machine. */
  static async of(sql: Sql): Promise<SessionCost> {
    const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    if (row === undefined) throw new Error("The session has no process");
    return new SessionCost(row.pid);
  }

  /** Microseconds that the session spends on the call. */
  async cpuUs(call: () => PromiseLike<unknown>): Promise<number> {
    const beforeNs = await this.#cpuNs();
    await call();
    // The process is counted when it has gone to sleep.
    await new Promise((resolve) => setTimeout(resolve, 1));
    return (await this.#cpuNs() - beforeNs) / 1_000;
  }

  async #cpuNs(): Promise<number> {
    return Number((await Deno.readTextFile(this.#schedstat)).split(" ")[0]);
  }
}
