import type { Sql } from "../../shared/platform/db/sql_client.ts";

/**
 * Measures the processor time of one server session for a call, by the scheduler's clock of its
 * process, so that other work of the machine has little effect. Linux only.
 */
export class SessionCost {
  readonly #schedstat: string;

  private constructor(processId: number) {
    this.#schedstat = `/proc/${processId}/schedstat`;
  }

  /** @param sql A pool of one connection, on a server of this machine. */
  static async of(sql: Sql): Promise<SessionCost> {
    const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    if (row === undefined) throw new Error("Cannot find the process of the session");
    return new SessionCost(row.pid);
  }

  /** Returns the microseconds of the session for the call. */
  async cpuUs(call: () => PromiseLike<unknown>): Promise<number> {
    const beforeNs = await this.#cpuNs();
    await call();
    // The scheduler updates the time when the process sleeps.
    await new Promise((resolve) => setTimeout(resolve, 1));
    return (await this.#cpuNs() - beforeNs) / 1_000;
  }

  async #cpuNs(): Promise<number> {
    return Number((await Deno.readTextFile(this.#schedstat)).split(" ")[0]);
  }
}
