import type { TransactionSql } from "../../vendor/postgres.js";
import type { JsonValue } from "../../platform/values/json.ts";
import { bytesOf, fetchBatches } from "./fetch_batches.ts";
import { assertShowsNoHiddenRows } from "./hidden_rows.ts";
import { type AdmittedStatement, parametersOf } from "./judged_call.ts";
import { type RawRows, type RawValue, sendOne } from "./guarded_transaction.ts";
import type { SqlSettings } from "./sql_settings.ts";
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
export async function readRows(call: AdmittedStatement, sql: TransactionSql): Promise<ReadRows> {
  const { statement, request, settings } = call;
  const kept = new FittingRows(settings);
  if (statement.kind !== "SelectStmt") {
    const all = await sendOne(sql, statement.text, parametersOf(request));
    if (statement.isExplain) await assertShowsNoHiddenRows(call, sql);
    kept.add(all);
    return await toRows(sql, all, kept);
  }
  let described: Pick<RawRows, "columns"> = { columns: [] };
  for await (const batch of fetchBatches(call, sql, settings.max_rows + 1)) {
    described = batch;
    kept.add(batch);
    if (kept.isTruncated) break;
  }
  return await toRows(sql, described, kept);
}

/** Rows that a write returns with `RETURNING`, up to the policy's caps. */
export async function returnedRows(
  { settings }: AdmittedStatement,
  sql: TransactionSql,
  returned: RawRows,
): Promise<ReadRows> {
  const kept = new FittingRows(settings);
  kept.add(returned);
  return await toRows(sql, returned, kept);
}

/** The first rows of a result, up to the size of an answer. */
class FittingRows {
  readonly rows: RawValue[][] = [];
  /** True if there were more. */
  isTruncated = false;
  readonly #caps: Pick<SqlSettings, "max_rows" | "max_bytes">;
  #byteCount = 0;

  constructor(caps: Pick<SqlSettings, "max_rows" | "max_bytes">) {
    this.#caps = caps;
  }

  add(batch: readonly RawValue[][]): void {
    const { max_rows: maxRows, max_bytes: maxBytes } = this.#caps;
    for (const row of batch) {
      this.#byteCount += bytesOf(row);
      this.isTruncated ||= this.#byteCount > maxBytes || this.rows.length === maxRows;
      if (this.isTruncated) return;
      this.rows.push(row);
    }
  }
}

async function toRows(
  sql: TransactionSql,
  { columns = [] }: Pick<RawRows, "columns">,
  { rows, isTruncated }: Pick<FittingRows, "rows" | "isTruncated">,
): Promise<ReadRows> {
  const types = await typeNames(sql, columns.map(({ type }) => type));
  return {
    columns: columns.map(({ name, type }) => ({ name, type: types.get(type) ?? "unknown" })),
    rows: rows.map((row) => row.map((value, index) => toJson(value, columns[index]?.type ?? 0))),
    isTruncated,
  };
}

/** Built-in objects of PostgreSQL have smaller OIDs, which are the same in every database. */
const FIRST_OID_OF_OTHERS = 10_000;

/** Names of built-in types, cached because they are the same in every database. */
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
