import type { TransactionSql } from "../../vendor/postgres.js";
import { errorField } from "../../platform/db/error_field.ts";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import type { DatabaseSchema, SchemaRelation } from "../sql/schema/database_schema.ts";
import { quoteName, sqlName } from "../sql/schema/quote_name.ts";
import type { RecordProblem } from "../sql/records/prepare_records.ts";
import { sendOne } from "./guarded_transaction.ts";
import { shownDetail } from "./statement_error.ts";

/** The result of checking the tables behind foreign keys. */
export interface ReferenceCheck {
  readonly problems: readonly RecordProblem[];
  readonly warnings: readonly string[];
}

/** Maximum number of reported missing references per key. */
const MAX_MISSING = 100;

/**
 * Finds records whose foreign keys refer to no row that the caller sees. If row level security may
 * hide the row, this is a warning, because the database itself checks all rows.
 */
export async function checkReferences(
  sql: TransactionSql,
  table: SchemaRelation,
  { relations }: DatabaseSchema,
  records: readonly JsonObject[],
): Promise<ReferenceCheck> {
  const problems: RecordProblem[] = [];
  const warnings: string[] = [];
  for (const key of table.constraints) {
    const target = relations.find(({ schema, name }) =>
      schema === key.target_schema && name === key.target_table
    );
    const targets = key.target_columns ?? [];
    const isReadable = targets.every((name) =>
      target?.columns.some((column) => column.name === name && column.is_readable)
    );
    const isGiven = records.some((record) => key.columns.every((name) => name in record));
    if (key.kind !== "foreign_key" || target === undefined || !isReadable || !isGiven) continue;
    const missing = await missingReferences(
      sql,
      table,
      { target, targets, columns: key.columns },
      records,
    );
    const column = key.columns.map(quoteName).join(", ");
    if (target.has_row_security && missing.length > 0) {
      warnings.push(
        `You see no row of ${sqlName(target)} for ${column} of the records ${
          missing.join(", ")
        }: the write fails if there is none.`,
      );
    } else {
      problems.push(...missing.map((record) => ({
        record,
        column,
        message: `${sqlName(target)} has no such row.`,
      })));
    }
  }
  return { problems, warnings };
}

interface Reference {
  readonly target: SchemaRelation;
  readonly targets: readonly string[];
  readonly columns: readonly string[];
}

async function missingReferences(
  sql: TransactionSql,
  table: SchemaRelation,
  { target, targets, columns }: Reference,
  records: readonly JsonObject[],
): Promise<number[]> {
  const own = columns.map((name) => `filled.${quoteName(name)}`);
  const matches = targets.map((name, index) => `other.${quoteName(name)} = ${own[index]}`);
  const rows = await sendOne(
    sql,
    `select given.place
    from jsonb_array_elements($1::text::jsonb) with ordinality as given (record, place)
    cross join lateral jsonb_populate_record(null::${sqlName(table)}, given.record) as filled
    where ${own.map((name) => `${name} is not null`).join(" and ")}
      and not exists (select from ${sqlName(target)} as other where ${matches.join(" and ")})
    order by given.place
    limit ${MAX_MISSING}`,
    [JSON.stringify(records)],
  );
  return rows.map(([place]) => Number(new TextDecoder().decode(place ?? new Uint8Array())));
}

/**
 * Adds records, all or none. Records with the same fields share a statement; a column that a record
 * lacks gets its default.
 *
 * @returns the number of added rows.
 */
export async function insertRecords(
  sql: TransactionSql,
  table: SchemaRelation,
  records: readonly JsonObject[],
): Promise<number> {
  const groups = Map.groupBy(records, (record) => JSON.stringify(Object.keys(record).sort()));
  let added = 0;
  for (const group of groups.values()) {
    const names = Object.keys(group[0] ?? {}).sort().map(quoteName);
    const result = await sendOne(sql, insertStatement(table, names), [JSON.stringify(group)]);
    added += result.count;
  }
  return added;
}

function insertStatement(table: SchemaRelation, names: readonly string[]): string {
  if (names.length === 0) {
    // A row with only defaults has no column list to select into.
    return `insert into ${sqlName(table)} select from jsonb_array_elements($1::text::jsonb)`;
  }
  return `insert into ${sqlName(table)} (${names.join(", ")})
    select ${names.map((name) => `record.${name}`).join(", ")}
    from jsonb_populate_recordset(null::${sqlName(table)}, $1::text::jsonb) as record`;
}

/** Converts a database error about records to the error that callers see. */
export function recordsError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const known = toSwarmError(error, "add the records");
  const sqlstate = errorField(error, "code");
  const isOfDatabase = sqlstate !== undefined && /^[0-9A-Z]{5}$/.test(sqlstate);
  if (known.code !== "INTERNAL" || !isOfDatabase) {
    return error instanceof SwarmError ? error : known;
  }
  const detail = shownDetail(sqlstate, errorField(error, "detail"));
  return new SwarmError("SQL_FAILED", `PostgreSQL rejected the records: ${error.message}`, {
    hint: "Nothing was added. Correct the records and send them again.",
    details: { sqlstate, ...definedOnly({ detail }) },
  });
}
