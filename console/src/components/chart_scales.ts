import type uPlot from "uplot";

/** The steps of an axis of whole numbers, which has no halves of a job. */
const WHOLE_STEPS = Array.from(
  { length: 13 },
  (_, power) => [1, 2, 5].map((one) => one * 10 ** power),
).flat();
/** Fewer places begin at the left, as if there were this many if there is room. */
export const LEAST_PLACES = 6;
/** The share of a place that its bars fill. */
const FILLED = 0.8;
const WIDEST_BAR_PX = 48;
/** Values that all lie in a small part of the range above 0 would be a flat line. */
const FLAT_SHARE = 0.5;
const DAY_SECONDS = 86_400;

/** A series as it is drawn. */
export interface DrawnSeries {
  readonly amounts: readonly (number | null)[];
  readonly color: string;
}

/** How series are drawn over the same places. */
export type Drawing = "lines" | "bars" | "stacked";

/** The values of series on top of each other: where each begins and ends. */
export function stack(
  series: readonly DrawnSeries[],
): { readonly from: readonly number[]; readonly to: readonly number[] }[] {
  let below: readonly number[] = (series[0]?.amounts ?? []).map(() => 0);
  return series.map(({ amounts }) => {
    const from = below;
    below = amounts.map((amount, at) => (from[at] ?? 0) + (amount ?? 0));
    return { from, to: below };
  });
}

/** Draws the bars of a series: beside those of the others, or from where the one below ends. */
export function barPaths(
  builder: uPlot.Series.BarsPathBuilderFactory,
  { at, count, from }: {
    readonly at: number;
    readonly count: number;
    readonly from?: readonly number[];
  },
): uPlot.Series.PathBuilder {
  if (from !== undefined) {
    return builder({
      size: [FILLED, WIDEST_BAR_PX],
      disp: {
        y0: { unit: 1, values: () => [...from] },
        y1: { unit: 1, values: (chart, index) => [...chart.data[index] ?? []] as number[] },
      },
    } as uPlot.Series.BarsPathBuilderOpts);
  }
  if (count === 1) return builder({ size: [FILLED, WIDEST_BAR_PX] });
  const width = FILLED / count;
  return builder({
    disp: {
      x0: { unit: 1, values: ({ data }) => [...data[0]].map((x) => x - FILLED / 2 + at * width) },
      size: { unit: 1, values: ({ data }) => [...data[0]].map(() => width * 0.9) },
    },
  } as uPlot.Series.BarsPathBuilderOpts);
}

/** The range of the values: bars begin at 0, and lines unless they would be flat. */
export function valueRange(drawing: Drawing): uPlot.Range.Function {
  return (_chart, least, most) => {
    if (drawing === "lines" && least > most * FLAT_SHARE) {
      const margin = (most - least) * 0.1 || 1;
      return [least - margin, most + margin];
    }
    return [Math.min(0, least * 1.05), most > 0 ? most * 1.05 : least < 0 ? 0 : 1];
  };
}

/** Steps of the vertical axis for whole numbers only; undefined: those of the library. */
export function wholeSteps(series: readonly DrawnSeries[]): number[] | undefined {
  const areWhole = series.every(({ amounts }) =>
    amounts.every((amount) => amount === null || Number.isInteger(amount))
  );
  return areWhole ? WHOLE_STEPS : undefined;
}

/** The labels of a time axis: as much of the time as differs between its marks. */
export function timeMarks(
  marks: readonly number[],
  stepSeconds: number,
  isLocal: boolean,
): string[] {
  const zone = isLocal ? {} : { timeZone: "UTC" };
  const parts: Intl.DateTimeFormatOptions = stepSeconds >= 365 * DAY_SECONDS
    ? { year: "numeric" }
    : stepSeconds >= 28 * DAY_SECONDS
    ? { month: "short", year: "numeric" }
    : stepSeconds >= DAY_SECONDS
    ? { month: "short", day: "numeric" }
    : { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hour12: false };
  const format = new Intl.DateTimeFormat("en", { ...parts, ...zone });
  return marks.map((mark) => format.format(mark * 1_000));
}
