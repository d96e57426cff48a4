import { cellText, type ResultTable } from "../find_table.ts";
import { type ChartColumn, chartColumns } from "./chart_columns.ts";

/** How a table is drawn. Columns are named by their index. */
export interface ChartChoice {
  readonly type: ChartType;
  /** Null: the number of the row. */
  readonly x: number | null;
  /** The columns with the values; only one of them if the chart is split. */
  readonly y: readonly number[];
  /** The column whose values are a series each. */
  readonly split: number | null;
}

/** Bars of several series stand side by side. */
export type ChartType = "lines" | "bars" | "stacked";

/** More series than this cannot be distinguished. */
export const MOST_SERIES = 8;
/** More places than this leave no room for their bars. */
export const MOST_PLACES = 40;
/** Splits with more values than this are not offered: computing all of them would take seconds. */
export const MOST_SPLITS = 500;
/** A value that is this many times smaller than another would be a line at the bottom. */
const MOST_TIMES_SMALLER = 20;
const AVERAGED =
  /(?:^|_)(?:avg|average|mean|median|rate|ratio|share|pct|percent|percentage|price|score|min|max|p\d\d)(?:$|_)/i;
/** Fewer points make no line. */
const LEAST_POINTS = 3;

/**
 * The chart that shows a table: numbers over time or by category, split by a second category if
 * several rows have the same place. Null if there is nothing to compare.
 */
export function suggestChart(table: ResultTable): ChartChoice | null {
  const columns = chartColumns(table);
  const numbers = columns.filter(({ role }) => role === "number");
  const [first] = numbers;
  if (first === undefined || table.rows.length < 2) return null;
  const axis = axisOf(columns, numbers, table);
  const others = numbers.filter(({ index }) => index !== axis?.index);
  const split = axis === null ? null : splitOf(axis, columns, table);
  const y = split === null ? comparable(others, table) : [others[0]?.index ?? first.index];
  const choice = { x: axis?.index ?? null, y, split: split?.index ?? null };
  return { ...choice, type: typeOf(choice, axis, columns, table) };
}

/** The types in which a choice can be drawn. Only amounts above 0 that can be added are stacked. */
export function typesOf({ y, split }: ChartChoice, { columns, rows }: ResultTable): ChartType[] {
  const isStackable = (y.length > 1 || split !== null) &&
    y.every((index) =>
      !isAveraged(columns[index]?.name ?? "") && rows.every((row) => !(Number(row[index]) < 0))
    );
  return isStackable ? ["lines", "bars", "stacked"] : ["lines", "bars"];
}

/** Whether the name of a column says that its values cannot be added. */
export function isAveraged(name: string): boolean {
  return AVERAGED.test(name);
}

/** The column along the axis: a time, else a category, else an id, else a number that grows. */
function axisOf(
  columns: readonly ChartColumn[],
  numbers: readonly ChartColumn[],
  { rows }: ResultTable,
): ChartColumn | null {
  const varied = columns.filter(({ distinctCount }) => distinctCount > 1);
  const times = varied.filter(({ role }) => role === "time");
  const [mostTimes] = byCount(times);
  if (mostTimes !== undefined) return mostTimes;
  for (const role of ["category", "id"] as const) {
    const named = varied.filter((column) => column.role === role);
    // What is in every row at most once describes a row better than what groups them, and many
    // values have more room along the axis than as series.
    const naming = named.find(({ distinctCount }) => distinctCount === rows.length) ??
      byCount(named).find(({ distinctCount }) => distinctCount > MOST_SERIES) ?? named[0];
    if (naming !== undefined) return naming;
  }
  const [first, second] = numbers;
  const grows = first !== undefined &&
    rows.every((row, at) =>
      at === 0 || Number(row[first.index]) > Number(rows[at - 1]?.[first.index])
    );
  return grows && second !== undefined ? first : null;
}

function byCount(columns: readonly ChartColumn[]): ChartColumn[] {
  return columns.toSorted((one, other) => other.distinctCount - one.distinctCount);
}

/** The column by which rows with the same place on the axis differ; null if there is none. */
function splitOf(
  axis: ChartColumn,
  columns: readonly ChartColumn[],
  { rows }: ResultTable,
): ChartColumn | null {
  if (axis.distinctCount === rows.length) return null;
  const pairsWith = ({ index }: ChartColumn) =>
    new Set(rows.map((row) => `${cellText(row[axis.index])}\n${cellText(row[index])}`)).size;
  const usable = columns.filter(({ index, role, distinctCount: count }) =>
    index !== axis.index && ["time", "category", "id"].includes(role) && count > 1 &&
    (count <= MOST_SERIES || rows.length / count >= 2)
  );
  return usable.toSorted((one, other) =>
    pairsWith(other) - pairsWith(one) || one.distinctCount - other.distinctCount
  )[0] ?? null;
}

/** The columns with values of about the same size as the first. */
function comparable(numbers: readonly ChartColumn[], { rows }: ResultTable): number[] {
  const largest = ({ index }: ChartColumn) =>
    rows.reduce((most, row) => Math.max(most, Math.abs(Number(row[index])) || 0), 0);
  const [first] = numbers;
  const size = first === undefined ? 0 : largest(first);
  return numbers.filter((column) => {
    const ratio = largest(column) / size;
    return column === first || (ratio <= MOST_TIMES_SMALLER && ratio >= 1 / MOST_TIMES_SMALLER);
  }).slice(0, MOST_SERIES).map(({ index }) => index);
}

function typeOf(
  choice: Omit<ChartChoice, "type">,
  axis: ChartColumn | null,
  columns: readonly ChartColumn[],
  table: ResultTable,
): ChartType {
  const placeCount = axis?.distinctCount ?? table.rows.length;
  const isOrdered = axis === null || axis.role === "time" || axis.role === "number";
  if (isOrdered && placeCount >= LEAST_POINTS) return "lines";
  const seriesCount = choice.split === null
    ? choice.y.length
    : columns[choice.split]?.distinctCount ?? 1;
  const isCrowded = Math.min(placeCount, MOST_PLACES) * seriesCount > MOST_PLACES;
  const isStackable = typesOf({ ...choice, type: "bars" }, table).includes("stacked");
  return isCrowded && choice.split !== null && isStackable ? "stacked" : "bars";
}
