import type { JsonObject, JsonValue } from "../../../platform/values/json.ts";
import type { DatabaseSchema, SchemaColumn, SchemaRelation } from "../schema/database_schema.ts";
import { coerceValue, toEnumLabels, type ValueType } from "./coerce_value.ts";
import { NameHints } from "../../../platform/values/nearest_names.ts";
import { namesOf } from "../results/result_table.ts";
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
  /** Incomplete if there are problems. */
  readonly records: readonly JsonObject[];
  readonly problems: readonly RecordProblem[];
}

/** No more problems are looked for: each record can have one for every column of the table. */
export const MAX_PROBLEMS = 1_000;

/**
 * Maps the records' fields to a table's columns and converts their values to the columns' types.
 * The problems of all records are reported, not only the first one, up to {@linkcode MAX_PROBLEMS}.
 *
 * @param validates If false, only the names are checked, and the database validates the values.
 */
export function prepareRecords(
  table: SchemaRelation,
  { enums }: Pick<DatabaseSchema, "enums">,
  given: readonly JsonObject[],
  validates: boolean,
): PreparedRecords {
  const hints = new NameHints();
  const { columns, problems } = mapFields(namesOf(given), table.columns, hints);
  const used = new Set(columns.values());
  const found: RecordProblem[] = [
    ...problems.map((message) => ({ record: null, column: null, message })),
    ...table.columns.filter(({ name }) => used.has(name)).flatMap(settingProblem),
  ];
  const targets = targetsOf(table, enums);
  const records: JsonObject[] = [];
  for (const [index, record] of given.entries()) {
    if (found.length >= MAX_PROBLEMS) break;
    const prepared = prepareRecord(record, { columns, targets, validates, hints });
    records.push(prepared.record);
    found.push(...prepared.problems.map((problem) => ({ record: index + 1, ...problem })));
  }
  return {
    mapping: Object.fromEntries(columns),
    records,
    problems: found.slice(0, MAX_PROBLEMS),
  };
}

/** The columns of a table, prepared for many records. */
interface Targets {
  readonly byName: ReadonlyMap<string, Target>;
  /** Names of the columns that every record must have. */
  readonly required: readonly string[];
}

interface Target extends ValueType {
  readonly name: string;
  readonly isNullable: boolean;
}

function targetsOf({ columns }: SchemaRelation, enums: DatabaseSchema["enums"]): Targets {
  const labels = new Map(
    enums.map(({ written, values }) => [written, toEnumLabels(values)]),
  );
  const targets = columns.map(({ name, type, is_nullable: isNullable }) => ({
    name,
    type,
    isNullable,
    labels: labels.get(type) ?? null,
  }));
  return {
    byName: new Map(targets.map((target) => [target.name, target])),
    required: columns.filter((column) =>
      !column.is_nullable && column.default === null && column.identity === null &&
      column.generation === null
    ).map(({ name }) => name),
  };
}

interface Preparation {
  readonly columns: ReadonlyMap<string, string>;
  readonly targets: Targets;
  readonly validates: boolean;
  readonly hints: NameHints;
}

interface PreparedRecord {
  readonly record: JsonObject;
  readonly problems: readonly Omit<RecordProblem, "record">[];
}

function prepareRecord(
  given: JsonObject,
  { columns, targets, validates, hints }: Preparation,
): PreparedRecord {
  const named = new Set<string>();
  const values: [string, JsonValue][] = [];
  const problems: Omit<RecordProblem, "record">[] = [];
  for (const [field, value] of Object.entries(given)) {
    const target = targets.byName.get(columns.get(field) ?? "");
    if (target === undefined) continue;
    const { name: column } = target;
    named.add(column);
    const coerced = validates
      ? coerceValue(value, target, hints)
      : { kind: "value" as const, value };
    if (coerced.kind === "value") values.push([column, coerced.value]);
    else problems.push({ column, message: coerced.message });
    if (validates && value === null && !target.isNullable) problems.push(missingValue(column));
  }
  if (validates) {
    const missing = targets.required.filter((column) => !named.has(column));
    problems.push(...missing.map(missingValue));
  }
  return { record: Object.fromEntries(values), problems };
}

function missingValue(column: string): Omit<RecordProblem, "record"> {
  return { column, message: "A value is required." };
}

/** The reason why the caller cannot set a column, if any. */
function settingProblem(column: SchemaColumn): RecordProblem[] {
  const message = settingMessage(column);
  return message === null ? [] : [{ record: null, column: column.name, message }];
}

function settingMessage(column: SchemaColumn): string | null {
  if (column.generation !== null) return "The database generates this column: omit it.";
  if (column.identity === "always") return "The database numbers this column: omit it.";
  return column.is_insertable ? null : "You may not write this column.";
}
