import { isJsonObject, type JsonObject, type JsonValue } from "../../../platform/values/json.ts";

/** Rows of a query, independent of their input format. */
export interface ResultTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly JsonValue[])[];
}

/** A column whose values are of one kind. */
export type ColumnKind = "number" | "time" | "text";

/** A number, a text that is exactly a number, or NaN. */
export function numberOf(value: JsonValue | undefined): number {
  if (typeof value === "number") return value;
  const isNumeric = typeof value === "string" &&
    /^\s*[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(value);
  return isNumeric ? Number(value) : Number.NaN;
}

/** A month or a day, which may have a time, which may have an offset. */
const TIME =
  /^\d{4}-\d\d(?:-\d\d(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?: ?(Z|[+-]\d\d(?::?\d\d)?))?)?)?$/;
const DATE_CHARACTERS = 10;

/** A moment in milliseconds since 1970, of a date or a date with a time as PostgreSQL and JSON write it. */
export function timeOf(value: JsonValue | undefined): number {
  if (typeof value !== "string") return Number.NaN;
  const parts = TIME.exec(value);
  if (parts === null) return Number.NaN;
  const [, time, offset = "Z"] = parts;
  // A date without a time is a day in UTC; so is a time without an offset.
  if (time === undefined) return Date.parse(value);
  const date = value.slice(0, DATE_CHARACTERS);
  return Date.parse(`${date}T${time}${offset.length === 3 ? `${offset}:00` : offset}`);
}

/** What answers of `execute_sql` have for a number or time that is not finite. */
const NOT_FINITE = /^(NaN|-?infinity)$/i;

/** Whether a value is a number or time that no axis can show. */
export function isNotFinite(value: JsonValue | undefined): boolean {
  return typeof value === "string" && NOT_FINITE.test(value);
}

/** The kind of a column's values, ignoring nulls and what is not finite. A column without values is text. */
export function kindOf(table: ResultTable, column: number): ColumnKind {
  if (isNumberColumn(table, column)) return "number";
  return isColumnOf(table, column, timeOf) ? "time" : "text";
}

/** Whether a column has numbers and nothing else, except nulls and what is not finite. */
export function isNumberColumn(table: ResultTable, column: number): boolean {
  return isColumnOf(table, column, numberOf);
}

function isColumnOf(
  { rows }: ResultTable,
  column: number,
  read: (value: JsonValue) => number,
): boolean {
  let hasValue = false;
  for (const row of rows) {
    const value = row[column] ?? null;
    if (value === null || isNotFinite(value)) continue;
    if (Number.isNaN(read(value))) return false;
    hasValue = true;
  }
  return hasValue;
}

/** A value for display: documents as JSON, null as an empty string. */
export function textOfValue(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The rows as objects; duplicate column names get a number. */
export function toObjects({ columns, rows }: ResultTable): JsonObject[] {
  const names = distinctNames(columns);
  return rows.map((row) =>
    Object.fromEntries(names.map((name, index) => [name, row[index] ?? null]))
  );
}

/** Unique names: the second `id` becomes `id_2`. */
export function distinctNames(columns: readonly string[]): string[] {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return columns.map((column) => {
    let name = column;
    // Counting goes on where it stopped, because thousands of columns may have the same name.
    for (let count = counts.get(column) ?? 2; taken.has(name); count++) {
      name = `${column}_${count}`;
      counts.set(column, count + 1);
    }
    taken.add(name);
    return name;
  });
}

/** The members' names of objects, in the order in which they first appear. */
export function namesOf(objects: readonly JsonObject[]): string[] {
  const names = new Set<string>();
  for (const object of objects) {
    for (const name of Object.keys(object)) names.add(name);
  }
  return [...names];
}

/** Whether every item is an object. */
export function areObjects(items: readonly JsonValue[]): items is readonly JsonObject[] {
  return items.every(isJsonObject);
}
