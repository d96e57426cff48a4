import type { TransactionSql } from "../../vendor/postgres.js";
import type { JsonValue } from "../../json.ts";
import { bytesOf, fetchBatches } from "./fetch_batches.ts";
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

/**
 * The rows of a read, up to the policy's caps. A query runs through a cursor, which rejects writes;
 * `EXPLAIN` and `SHOW` cannot use a cursor, but return few rows.
 */
export async function readRows(call: AdmittedCall, sql: TransactionSql): Promise<ReadRows> {
  const { statement, request, settings: { max_rows: maxRows, max_bytes: maxBytes } } = call;
  if (statement.kind !== "SelectStmt") {
    const all = await sendOne(sql, statement.text, parametersOf(request));
    return await toRows(sql, all, all, all.length > maxRows, maxRows);
  }
  const rows: RawValue[][] = [];
  let described: Pick<RawRows, "columns"> = { columns: [] };
  let bytes = 0;
  let isTruncated = false;
  for await (const batch of fetchBatches(call, sql, maxRows + 1)) {
    described = batch;
    for (const row of batch) {
      bytes += bytesOf(row);
      isTruncated ||= bytes > maxBytes || rows.length === maxRows;
      if (!isTruncated) rows.push(row);
    }
    if (isTruncated) break;
  }
  return await toRows(sql, described, rows, isTruncated, maxRows);
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

/** Objects of PostgreSQL itself have smaller OIDs, the same ones in every database. */
const FIRST_OID_OF_OTHERS = 10_000;

/** Names of PostgreSQL's own types that a read has met. */
const builtInTypes = new Map<number, string>();

async function typeNames(
  sql: TransactionSql,
  oids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const unknown = oids.filter((oid) => !builtInTypes.has(oid));
  if (unknown.length === 0) return builtInTypes;
  const read = await readTypeNames(sql, unknown);
  for (const [oid, name] of read) {
    if (oid < FIRST_OID_OF_OTHERS) builtInTypes.set(oid, name);
  }
  return new Map([...builtInTypes, ...read]);
}

async function readTypeNames(
  sql: TransactionSql,
  oids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await sql<{ oid: number; name: string }[]>`
    select wanted::int4 as oid, pg_catalog.format_type(wanted::oid, null) as name
    from pg_catalog.jsonb_array_elements_text(${sql.json([...new Set(oids)])}) as wanted`;
  return new Map(rows.map(({ oid, name }) => [oid, name]));
}
