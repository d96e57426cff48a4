import type { TransactionSql } from "../../vendor/postgres.js";
import { type RawRows, type RawValue, sendOne } from "./guarded_transaction.ts";
import { type AdmittedCall, parametersOf } from "./judged_call.ts";

/** Rows of the first batch, whose size is still unknown. */
const FIRST_ROWS = 20;
const MAX_ROWS = 1_000;
/** What a batch should come to, by the size of the rows of the one before. */
const BATCH_BYTES = 256 * 1024;

/** The prefix of the statement in the text sent to the server; error positions include it. */
export const CURSOR_PREFIX = "declare supaswarm_rows no scroll cursor for ";

/**
 * The rows of a query, up to `maxRows`, in batches; there is always a first one, which has the
 * columns. They are fetched through a cursor, which rejects writes. The size of a batch follows the
 * size of the rows before it, so that a few large rows do not fill the memory.
 */
export async function* fetchBatches(
  { statement, request }: Pick<AdmittedCall, "statement" | "request">,
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

/** Bytes of a row as the server sent it. */
export function bytesOf(row: readonly RawValue[]): number {
  return row.reduce((sum, value) => sum + (value?.length ?? 0), 0);
}
