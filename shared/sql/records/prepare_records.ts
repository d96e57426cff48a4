import type { JsonObject, JsonValue } from "../../json.ts";
import type { DatabaseSchema, SchemaColumn, SchemaRelation } from "../schema/database_schema.ts";
import { coerceValue, type ValueType } from "./coerce_value.ts";
import { mapFields } from "./map_fields.ts";

/** A problem with a record. */
export interface RecordProblem {
  /** Number of the record, from 1; null for all records. */
  readonly record: number | null;
  /** Null for the record as a whole. */
  readonly column: string | null;
  readonly message: string;
}

/** Records with column names and converted values. */
export interface PreparedRecords {
  readonly mapping: Readonly<Record<string, string>>;
  readonly records: readonly JsonObject[];
  readonly problems: readonly RecordProblem[];
}

/**
 * Maps the records' fields to a table's columns and converts their values to the columns' types.
 * Every problem of every record is reported, not only the first.
 *
 * @param validates If false, only the names are checked, and the database validates the values.
 */
export function prepareRecords(
  table: SchemaRelation,
  { enums }: Pick<DatabaseSchema, "enums">,
  given: readonly JsonObject[],
  validates: boolean,
): PreparedRecords {
  const fields = [...new Set(given.flatMap((record) => Object.keys(record)))];
  const { columns, problems } = mapFields(fields, table.columns);
  const byName = new Map(table.columns.map((column) => [column.name, column]));
  const enumsByType = new Map(
    enums.map(({ schema, name, values }) => [`${schema}.${name}`, values]),
  );
  const typeOf = ({ type }: SchemaColumn): ValueType => ({
    type,
    enumValues: enumsByType.get(type.replaceAll('"', "")) ?? null,
  });
  const found: RecordProblem[] = problems.map((message) => ({
    record: null,
    column: null,
    message,
  }));
  for (const column of new Set(columns.values())) {
    const message = settingProblem(byName.get(column));
    if (message !== null) found.push({ record: null, column, message });
  }
  const records = given.map((record, index) => {
    const prepared: Record<string, JsonValue> = {};
    for (const [field, value] of Object.entries(record)) {
      const name = columns.get(field);
      const column = name === undefined ? undefined : byName.get(name);
      if (column === undefined) continue;
      const coerced = validates
        ? coerceValue(value, typeOf(column))
        : { kind: "value" as const, value };
      if (coerced.kind === "value") prepared[column.name] = coerced.value;
      else found.push({ record: index + 1, column: column.name, message: coerced.message });
    }
    if (validates) found.push(...missingValues(table, record, columns, index + 1));
    return prepared;
  });
  return { mapping: Object.fromEntries(columns), records, problems: found };
}

/** The reason why the caller cannot set a column; null if the caller can. */
function settingProblem(column: SchemaColumn | undefined): string | null {
  if (column === undefined) return null;
  if (column.is_generated) return "The database generates this column: omit it.";
  if (column.identity === "always") return "The database numbers this column: omit it.";
  return column.is_insertable ? null : "You may not write this column.";
}

function missingValues(
  table: SchemaRelation,
  record: JsonObject,
  mapped: ReadonlyMap<string, string>,
  place: number,
): RecordProblem[] {
  const given = new Map(Object.entries(record).map(([field, value]) => [mapped.get(field), value]));
  return table.columns.flatMap((column) => {
    if (column.is_nullable) return [];
    const fills = column.default !== null || column.identity !== null || column.is_generated;
    const isMissing = given.has(column.name) ? given.get(column.name) === null : !fills;
    return isMissing
      ? [{ record: place, column: column.name, message: "A value is required." }]
      : [];
  });
}
