import type { TransactionSql } from "../../vendor/postgres.js";
import { type RawRows, type RawValue, sendOne } from "./guarded_transaction.ts";
import { type AdmittedStatement, parametersOf } from "./judged_call.ts";

/** Rows of the first batch, whose size is still unknown. */
const FIRST_ROWS = 20;
const MAX_ROWS = 1_000;
/** The intended size of a batch, estimated from the rows of the previous batch. */
const BATCH_BYTES = 256 * 1024;

/** The prefix of the statement in the text sent to the server; error positions include it. */
export const CURSOR_PREFIX = "declare supaswarm_rows no scroll cursor for ";

/**
 * Fetches the rows of a query, up to `maxRows`, in batches. The first batch is always returned,
 * because it has the columns. The cursor rejects writes. The number of rows in a batch depends on
 * the size of earlier rows, so that large rows do not fill the memory.
 */
export async function* fetchBatches(
  { statement, request }: Pick<AdmittedStatement, "statement" | "request">,
  sql: TransactionSql,
  maxRows: number,
): AsyncGenerator<RawRows> {
  await sendOne(sql, `${CURSOR_PREFIX}${statement.text}`, parametersOf(request));
  let left = maxRows;
  let wanted = Math.min(FIRST_ROWS, left);
  while (true) {
    const batch = await sendOne(sql, `fetch forward ${wanted} from supaswarm_rows`);
    yield batch;
    left -= batch.length;
    if (batch.length < wanted || left <= 0) return;
    const meanBytes = batch.reduce((sum, row) => sum + bytesOf(row), 0) / batch.length;
    const fitting = Math.floor(BATCH_BYTES / Math.max(1, meanBytes));
    wanted = Math.min(Math.max(1, fitting), MAX_ROWS, left);
  }
}

/** The server sends the length of each value before it, also of a null. */
const LENGTH_BYTES = 4;

/** The size of a row as sent by the server, in bytes. */
export function bytesOf(row: readonly RawValue[]): number {
  return row.reduce((sum, value) => sum + LENGTH_BYTES + (value?.length ?? 0), 0);
}
