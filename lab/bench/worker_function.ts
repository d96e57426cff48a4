import type { QueueDatabase } from "./queue_database.ts";
import { type ReportingProcess, startReportingProcess } from "./reporting_process.ts";

/** Memory of the worker's process, in bytes. */
export interface Memory {
  readonly rss: number;
  readonly heap_used: number;
}

/** The program that runs the function, and settings that differ from the defaults. */
export interface FunctionWorkerOptions {
  /** File name of a program of this folder. @default "function_worker.ts" */
  readonly program?: string;
  /** @default this Deno */
  readonly executable?: string;
  readonly slots?: number;
}

/** Starts the worker's complete function in a separate process and wakes it once. */
export async function startFunctionWorker<Report = Memory>(
  { sql, url }: QueueDatabase,
  { program = "function_worker.ts", executable, slots }: FunctionWorkerOptions,
): Promise<ReportingProcess<Report>> {
  const [row] = await sql<{ token: string }[]>`
    select decrypted_secret as token from vault.decrypted_secrets
    where name = 'supaswarm_wake_token'`;
  return startReportingProcess(program, {
    SUPABASE_URL: "http://127.0.0.1:9",
    SUPABASE_DB_URL: url,
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: "sb_secret_bench" }),
    SUPABASE_JWKS: "",
    SUPASWARM_ALLOW_LOOPBACK: "true",
    ...(slots === undefined ? {} : { SUPASWARM_WORKER_SLOTS: String(slots) }),
    SUPASWARM_BENCH_WAKE_TOKEN: row?.token ?? "",
  }, executable);
}
