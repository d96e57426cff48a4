import { cellText, type ResultTable } from "./find_table.ts";

/** A numeric column, charted against the column that names its rows. */
export interface TableChart {
  readonly name: string;
  readonly labels: readonly string[];
  readonly amounts: readonly (number | null)[];
}

/** More bars than this cannot be distinguished. */
const MOST_BARS = 200;

/** Indexes of the columns of a table that can be charted; empty if there is nothing to compare. */
export function drawableColumns({ columns, rows }: ResultTable): number[] {
  if (rows.length < 2 || rows.length > MOST_BARS) return [];
  return columns.flatMap(({ kind }, index) => (kind === "number" ? [index] : []));
}

/** The chart of one column; the first column without numbers names its rows. */
export function chartOfTable({ columns, rows }: ResultTable, column: number): TableChart {
  const naming = columns.findIndex(({ kind }) => kind !== "number" && kind !== "json");
  return {
    name: columns[column]?.name ?? "",
    labels: rows.map((row, index) =>
      naming < 0 ? String(index + 1) : cellText(row[naming]) || String(index + 1)
    ),
    amounts: rows.map((row) => {
      const value = row[column];
      return typeof value === "number" ? value : null;
    }),
  };
}
