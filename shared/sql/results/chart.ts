import type { ColumnKind } from "./result_table.ts";

/** How values are drawn. */
export type ChartMark = "bar" | "line" | "point";

/** Points of a chart, ready to be drawn. */
export interface Chart {
  readonly mark: ChartMark;
  readonly xName: string;
  readonly xKind: ColumnKind;
  /** Names of the columns that are drawn. */
  readonly series: readonly string[];
  readonly points: readonly ChartPoint[];
}

/** The values of one row. */
export interface ChartPoint {
  readonly label: string;
  /** A number or a time in milliseconds; null for a text. */
  readonly x: number | null;
  /** In the order of the series; null: no value. */
  readonly values: readonly (number | null)[];
}
