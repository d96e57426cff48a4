/** A column of a table and the type of its values. */
export interface TableColumn {
  readonly name: string;
  readonly kind: "number" | "boolean" | "time" | "text" | "json";
}

/** Rows of an answer, each with a value for every column. */
export interface ResultTable {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly unknown[])[];
}

/**
 * The table in an answer: `{columns, rows}` as in `execute_sql`, or the first list of objects.
 * Null if there is none.
 */
export function findTable(value: unknown): ResultTable | null {
  if (Array.isArray(value)) return tableOfObjects(value);
  if (!isRecord(value)) return null;
  const { columns, rows } = value;
  if (Array.isArray(columns) && Array.isArray(rows) && rows.every(Array.isArray)) {
    return tableOfColumns(columns, rows as unknown[][]);
  }
  for (const member of Object.values(value)) {
    const table = Array.isArray(member) ? tableOfObjects(member) : null;
    if (table !== null) return table;
  }
  return null;
}

function tableOfColumns(columns: readonly unknown[], rows: readonly unknown[][]): ResultTable {
  return {
    columns: columns.map((column, index) => {
      const name = typeof column === "string"
        ? column
        : String((column as { name?: unknown })?.name);
      const declared = KINDS_OF_TYPES.get(String((column as { type?: unknown })?.type));
      return { name, kind: declared ?? kindOf(rows.map((row) => row[index])) };
    }),
    rows,
  };
}

function tableOfObjects(list: readonly unknown[]): ResultTable | null {
  if (list.length === 0 || !list.every(isRecord)) return null;
  const names = [...new Set(list.flatMap((row) => Object.keys(row)))];
  if (names.length === 0) return null;
  const rows = list.map((row) => names.map((name) => row[name]));
  return {
    columns: names.map((name, index) => ({ name, kind: kindOf(rows.map((row) => row[index])) })),
    rows,
  };
}

/** Types of PostgreSQL whose values may be text: numbers that JSON would change, such as 12.50. */
const KINDS_OF_TYPES: ReadonlyMap<string, TableColumn["kind"]> = new Map([
  ...["smallint", "integer", "bigint", "numeric", "real", "double precision"].map((type) =>
    [type, "number"] as const
  ),
  ...["date", "timestamp without time zone", "timestamp with time zone"].map((type) =>
    [type, "time"] as const
  ),
]);

const ISO_TIME = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/;

/** The common type of a column's values; missing values are ignored. */
function kindOf(values: readonly unknown[]): TableColumn["kind"] {
  const given = values.filter((value) => value !== null && value !== undefined);
  if (given.length === 0) return "text";
  if (given.every((value) => typeof value === "number")) return "number";
  if (given.every((value) => typeof value === "boolean")) return "boolean";
  if (given.every((value) => typeof value === "string" && ISO_TIME.test(value))) return "time";
  return given.some((value) => typeof value === "object") ? "json" : "text";
}

export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
