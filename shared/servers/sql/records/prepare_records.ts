import type { JsonObject, JsonValue } from "../../../platform/values/json.ts";
import type { DatabaseSchema, SchemaColumn, SchemaRelation } from "../schema/database_schema.ts";
import { coerceValue, toEnumLabels, type ValueType } from "./coerce_value.ts";
import { NameHints } from "../../../platform/values/nearest_names.ts";
import { namesOf } from "../results/result_table.ts";

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

/** The column of each field, and the problems. */
interface FieldMapping {
  /** Column names by field. */
  readonly columns: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

/** Maximum number of names in one message. */
const MAX_NAMED = 20;

/**
 * Finds the column of each field: by name, otherwise ignoring case and separators, otherwise by a
 * synonym, which is a phrase in the column's comment. An ambiguous field is a problem.
 */
function mapFields(
  fields: readonly string[],
  columns: readonly SchemaColumn[],
  hints: NameHints,
): FieldMapping {
  const find = columnFinder(columns);
  const names = columns.map(({ name }) => name);
  const mapped = new Map<string, string>();
  const problems: string[] = [];
  for (const field of fields) {
    const [found, ...others] = find(field);
    if (found === undefined) problems.push(unknownField(field, names, hints));
    else if (others.length > 0) {
      problems.push(`"${field}" could be ${quoted([found, ...others], " or ")}.`);
    } else mapped.set(field, found);
  }
  for (const [column, pairs] of Map.groupBy(mapped, ([, column]) => column)) {
    const same = pairs.map(([field]) => field);
    if (same.length > 1) problems.push(`${quoted(same, " and ")} are both "${column}".`);
  }
  return { columns: mapped, problems };
}

/** Finds the columns that a field could mean. Every column is read once, not once for each field. */
function columnFinder(columns: readonly SchemaColumn[]): (field: string) => readonly string[] {
  const names = new Set(columns.map(({ name }) => name));
  const byPlainName = namesBy(columns, ({ name }) => [plain(name)]);
  const byPhrase = namesBy(columns, ({ comment }) => comment === null ? [] : phrases(comment));
  return (field) => {
    if (names.has(field)) return [field];
    const plainField = plain(field);
    return byPlainName.get(plainField) ?? byPhrase.get(plainField) ?? [];
  };
}

function namesBy(
  columns: readonly SchemaColumn[],
  keysOf: (column: SchemaColumn) => readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const column of columns) {
    for (const key of new Set(keysOf(column))) {
      const names = found.get(key);
      if (names === undefined) found.set(key, [column.name]);
      else names.push(column.name);
    }
  }
  return found;
}

/** The parts of a comment that could name its column, including the whole comment. */
function phrases(comment: string): string[] {
  const parts = comment.split(/[,;:.()|/"'\n]|\b(?:or|aka|also|synonyms?|called)\b/i);
  return [comment, ...parts].map(plain).filter((phrase) => phrase !== "");
}

function unknownField(field: string, names: readonly string[], hints: NameHints): string {
  const nearest = hints.nearest(field, names);
  const hint = nearest.length === 0 ? "" : ` Similar: ${nearest.join(", ")}.`;
  return `"${field}" is not a column.${hint}`;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function quoted(names: readonly string[], separator: string): string {
  const more = names.length > MAX_NAMED ? [`${names.length - MAX_NAMED} more`] : [];
  return [...names.slice(0, MAX_NAMED).map((name) => `"${name}"`), ...more].join(separator);
}
