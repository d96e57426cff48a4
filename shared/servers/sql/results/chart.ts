import type { ColumnKind } from "./result_table.ts";

/** Types of chart marks. */
export type ChartMark = "bar" | "line" | "point";

/** The points of a chart. */
export interface Chart {
  readonly mark: ChartMark;
  readonly xName: string;
  readonly xKind: ColumnKind;
  /** Names of the drawn columns. */
  readonly series: readonly string[];
  readonly points: readonly ChartPoint[];
}

/** The values of one row. */
export interface ChartPoint {
  readonly label: string;
  /** A number or a time in milliseconds; null for a text. */
  readonly x: number | null;
  /** In the order of the series; null for no value. */
  readonly values: readonly (number | null)[];
}
