import type { JsonObject } from "../../../platform/values/json.ts";
import type { Chart } from "./chart.ts";
import { chartSvg } from "./chart_svg.ts";
import {
  type ColumnKind,
  distinctNames,
  kindOf,
  numberOf,
  type ResultTable,
  textOfValue,
  timeOf,
} from "./result_table.ts";

/** A chart as data: a specification for Vega-Lite, and an SVG for clients without Vega. */
export interface ChartResult {
  readonly vegaLite: JsonObject;
  readonly svg: string;
}

/** Maximum number of rows in a chart; the rest is omitted. */
export const MAX_CHART_ROWS = 500;
const MAX_SERIES = 6;
/** Beyond it the difference of two values is not a finite number. */
const GREATEST = 1e300;

/**
 * Draws the numeric columns over the first time or text column: lines over time, bars over texts,
 * points for numbers only. The result is data without expressions or scripts; texts of the rows
 * appear only as text.
 *
 * @returns null if no column has numbers.
 */
export function resultsChart(table: ResultTable): ChartResult | null {
  const chart = chartOf({ ...table, rows: table.rows.slice(0, MAX_CHART_ROWS) });
  return chart === null ? null : { vegaLite: vegaLite(chart), svg: chartSvg(chart) };
}

function chartOf(table: ResultTable): Chart | null {
  const names = distinctNames(table.columns);
  const kinds = names.map((_, index) => kindOf(table, index));
  const numbers = kinds.flatMap((kind, index) => kind === "number" ? [index] : []);
  const others = kinds.flatMap((kind, index) => kind === "number" ? [] : [index]);
  const x = others.find((index) => kinds[index] === "time") ?? others[0] ??
    (numbers.length > 1 ? numbers[0] : undefined);
  const drawn = numbers.filter((index) => index !== x).slice(0, MAX_SERIES);
  if (drawn.length === 0) return null;
  const xKind = x === undefined ? "text" : kinds[x] ?? "text";
  return {
    mark: xKind === "time" ? "line" : xKind === "number" ? "point" : "bar",
    xName: x === undefined ? "row" : names[x] ?? "",
    xKind,
    series: drawn.map((index) => names[index] ?? ""),
    points: table.rows.map((row, index) => ({
      label: x === undefined ? String(index + 1) : textOfValue(row[x]),
      x: x === undefined ? null : position(row[x], xKind),
      values: drawn.map((column) => finite(numberOf(row[column] ?? null))),
    })),
  };
}

function position(value: ResultTable["rows"][number][number] | undefined, kind: ColumnKind) {
  return kind === "text" ? null : finite(kind === "time" ? timeOf(value) : numberOf(value));
}

function finite(value: number): number | null {
  return Math.abs(value) <= GREATEST ? value : null;
}

/** Fields get generated names, because Vega-Lite reads dots and brackets in a name as a path. */
function vegaLite({ mark, xName, xKind, series, points }: Chart): JsonObject {
  const types = { time: "temporal", number: "quantitative", text: "nominal" } as const;
  const values = points.flatMap(({ label, x, values }) =>
    series.map((name, index) => ({
      x: xKind === "number" ? x : label,
      series: name,
      y: values[index] ?? null,
    }))
  );
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v5.json",
    data: { values },
    mark: { type: mark, tooltip: true },
    encoding: {
      x: {
        field: "x",
        type: types[xKind],
        title: xName,
        ...(xKind === "text" ? { sort: null } : {}),
      },
      y: { field: "y", type: "quantitative", title: series.length === 1 ? series[0] ?? "" : null },
      ...(series.length === 1 ? {} : {
        color: { field: "series", type: "nominal", title: null, sort: null },
        ...(mark === "bar" ? { xOffset: { field: "series", sort: null } } : {}),
      }),
    },
  };
}
