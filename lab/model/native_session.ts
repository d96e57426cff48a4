import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import type { QueueCall, Row } from "./random_calls.ts";

/** What the database answers to a call: rows, or the code of its refusal. */
export type Answer =
  | { readonly rows: readonly Row[] }
  | { readonly refusal: string };

/** One session of the database, with at most one transaction, which stays open until it is ended. */
export class NativeSession {
  readonly #connection: Sql;
  readonly #pid: number;
  readonly #admin: Sql;
  /** The call of the open transaction. */
  call: QueueCall | null = null;
  /** Null while the call waits for another session. */
  answer: Answer | null = null;
  #pending: Promise<void> = Promise.resolve();

  private constructor(connection: Sql, pid: number, admin: Sql) {
    this.#connection = connection;
    this.#pid = pid;
    this.#admin = admin;
  }

  /** @param admin Another connection, which sees who waits for whom. */
  static async open(url: string, admin: Sql, seed: number): Promise<NativeSession> {
    const connection = createSql(url, { maxConnections: 1, applicationName: "session" });
    const [row] = await connection`select pg_backend_pid() as pid, setseed(${seed})`;
    return new NativeSession(connection, row?.pid, admin);
  }

  /** Begins a transaction with a call, and returns when it has an answer or waits for a lock. */
  async begin(call: QueueCall): Promise<void> {
    this.call = call;
    this.answer = null;
    await this.#connection.unsafe("begin");
    this.#pending = this.#run(call);
    await this.proceed();
  }

  /** Returns when the call has an answer or waits for a lock. */
  async proceed(): Promise<void> {
    while (this.call !== null && this.answer === null) {
      const isBlocked = this.#admin`
        select cardinality(pg_blocking_pids(${this.#pid}::int)) > 0 as is_blocked`;
      const [found] = await Promise.all([isBlocked, Promise.race([this.#pending, isBlocked])]);
      if (this.answer === null && found[0]?.is_blocked) return;
    }
  }

  /** Ends the transaction. */
  async end(how: "commit" | "rollback"): Promise<void> {
    await this.#connection.unsafe(how);
    this.call = null;
    this.answer = null;
  }

  async close(): Promise<void> {
    if (this.call !== null) await this.end("rollback");
    await this.#connection.end({ timeout: 1 });
  }

  async #run({ text, values }: QueueCall): Promise<void> {
    try {
      const rows = await this.#connection.unsafe(text, values as never[]);
      this.answer = { rows: rows.map((row) => ({ ...row })) };
    } catch (error) {
      const { code, detail, message } = error as { code: string; detail?: string; message: string };
      this.answer = {
        refusal: code.startsWith("PT") && detail !== undefined ? detail : `${code} ${message}`,
      };
    }
  }
}
