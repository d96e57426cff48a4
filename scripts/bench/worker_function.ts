import type { QueueDatabase } from "./queue_database.ts";
import { type ReportingProcess, startReportingProcess } from "./reporting_process.ts";

/** Memory of the worker's process, in bytes. */
export interface Memory {
  readonly rss: number;
  readonly heap_used: number;
}

/** Starts the worker's complete function in a separate process and wakes it once. */
export async function startFunctionWorker(
  { sql, url }: QueueDatabase,
  { slots }: { readonly slots: number },
): Promise<ReportingProcess<Memory>> {
  const [row] = await sql<{ token: string }[]>`
    select decrypted_secret as token from vault.decrypted_secrets
    where name = 'supaswarm_wake_token'`;
  return startReportingProcess("function_worker.ts", {
    SUPABASE_URL: "http://127.0.0.1:9",
    SUPABASE_DB_URL: url,
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: "sb_secret_bench" }),
    SUPABASE_JWKS: "",
    SUPASWARM_ALLOW_LOOPBACK: "true",
    SUPASWARM_WORKER_SLOTS: String(slots),
    SUPASWARM_BENCH_WAKE_TOKEN: row?.token ?? "",
  });
}
