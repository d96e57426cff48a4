import type { TransactionSql } from "../../vendor/postgres.js";
import type { JsonValue } from "../../json.ts";
import { type AdmittedCall, parametersOf } from "./judged_call.ts";
import { type RawRows, type RawValue, sendOne } from "./guarded_transaction.ts";
import { toJson } from "./to_json.ts";

/** The rows of an answer. */
export interface ReadRows {
  readonly columns: { readonly name: string; readonly type: string }[];
  readonly rows: JsonValue[][];
  /** True if there are more rows than the answer contains. */
  readonly isTruncated: boolean;
}

/** Rows per fetch; the bytes are counted between two fetches. */
const BATCH_ROWS = 100;

/** The prefix of the statement in the text sent to the server; error positions include it. */
export const CURSOR_PREFIX = "declare supaswarm_rows no scroll cursor for ";

/**
 * The rows of a read, up to the policy's caps. A query runs through a cursor, which rejects writes;
 * `EXPLAIN` and `SHOW` cannot use a cursor, but return few rows.
 */
export async function readRows(call: AdmittedCall, sql: TransactionSql): Promise<ReadRows> {
  const { statement, request, settings } = call;
  const parameters = parametersOf(request);
  if (statement.kind !== "SelectStmt") {
    const all = await sendOne(sql, statement.text, parameters);
    return await toRows(sql, all, all, all.length > settings.max_rows, settings.max_rows);
  }
  await sendOne(sql, `${CURSOR_PREFIX}${statement.text}`, parameters);
  const rows: RawValue[][] = [];
  let bytes = 0;
  let batch: RawRows;
  do {
    const wanted = Math.min(BATCH_ROWS, settings.max_rows + 1 - rows.length);
    batch = await sendOne(sql, `fetch forward ${wanted} from supaswarm_rows`);
    for (const row of batch) {
      bytes += row.reduce((sum, value) => sum + (value?.length ?? 0), 0);
      if (bytes > settings.max_bytes || rows.length === settings.max_rows) {
        return await toRows(sql, batch, rows, true, settings.max_rows);
      }
      rows.push(row);
    }
  } while (batch.length === BATCH_ROWS);
  return await toRows(sql, batch, rows, false, settings.max_rows);
}

/** Rows that a write returns with `RETURNING`, up to the cap. */
export async function returnedRows(
  { settings }: AdmittedCall,
  sql: TransactionSql,
  returned: RawRows,
): Promise<ReadRows> {
  const isTruncated = returned.length > settings.max_rows;
  return await toRows(sql, returned, returned, isTruncated, settings.max_rows);
}

async function toRows(
  sql: TransactionSql,
  { columns = [] }: Pick<RawRows, "columns">,
  rows: readonly RawValue[][],
  isTruncated: boolean,
  maxRows: number,
): Promise<ReadRows> {
  const types = await typeNames(sql, columns.map(({ type }) => type));
  return {
    columns: columns.map(({ name, type }) => ({ name, type: types.get(type) ?? "unknown" })),
    rows: rows.slice(0, maxRows).map((row) =>
      row.map((value, index) => toJson(value, columns[index]?.type ?? 0))
    ),
    isTruncated,
  };
}

async function typeNames(
  sql: TransactionSql,
  oids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (oids.length === 0) return new Map();
  const rows = await sql<{ oid: number; name: string }[]>`
    select wanted::int4 as oid, pg_catalog.format_type(wanted::oid, null) as name
    from pg_catalog.jsonb_array_elements_text(${sql.json([...new Set(oids)])}) as wanted`;
  return new Map(rows.map(({ oid, name }) => [oid, name]));
}
