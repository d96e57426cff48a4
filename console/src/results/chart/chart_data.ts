import { formatCount } from "../../format/numbers.ts";
import { cellText, type ResultTable } from "../find_table.ts";
import { chartColumns } from "./chart_columns.ts";
import { type ChartChoice, isAveraged, MOST_PLACES, MOST_SERIES } from "./suggest_chart.ts";
import { type NamedTime, readTime } from "./period_times.ts";

/** A line, or the bars of one color. */
export interface ChartSeries {
  readonly name: string;
  /** One for each place; null where there is no value. */
  readonly amounts: readonly (number | null)[];
  /** Whether it is the sum of the series that are too small to be drawn. */
  readonly isRest?: boolean;
}

/** What is drawn, also as a table. */
export interface ChartData {
  /** The places along the axis. */
  readonly labels: readonly string[];
  /** The times of the places in milliseconds, if their distances mean something. */
  readonly times: readonly number[] | null;
  /** Whether the times are those of the reader's zone; otherwise they are read as UTC. */
  readonly isLocal: boolean;
  readonly series: readonly ChartSeries[];
  /** What was left out or put together, in sentences. */
  readonly notes: readonly string[];
}

const NO_NAME = "none";

interface Place {
  readonly key: string;
  readonly time: NamedTime | null;
  readonly rows: readonly (readonly unknown[])[];
}

/** The places and series of a table for a choice. */
export function chartData(table: ResultTable, choice: ChartChoice): ChartData {
  const notes: string[] = [];
  const { places, isOrdered } = placesOf(table, choice, notes);
  const columns = choice.y.map((index) => ({ index, name: table.columns[index]?.name ?? "" }));
  const [first] = columns;
  const cell = (index: number) => combiner(table.columns[index]?.name ?? "", notes);
  const whole: ChartSeries[] = choice.split === null || first === undefined
    ? columns.map(({ index, name }) => ({
      name,
      amounts: places.map(({ rows }) => cell(index)(rows.map((row) => row[index]))),
    }))
    : splitSeries(
      table,
      { ...choice, split: choice.split, y: first.index },
      places,
      cell(first.index),
    );
  const few = fewSeries(whole, isAveraged(first?.name ?? "") || choice.split === null, notes);
  const isOverTime = places.length > 0 && places.every(({ time }) => time?.isMoment === true);
  const isLocal = places.some(({ time }) => time?.isLocal === true);
  const drawn = isOrdered || choice.type === "lines"
    ? { places: places.map(({ key }) => key), series: few }
    : fewPlaces(places.map(({ key }) => key), few, isAveraged(first?.name ?? ""), notes);
  return {
    labels: isOverTime ? places.map((place) => timeLabel(place, isLocal, places)) : drawn.places,
    times: isOverTime ? places.map(({ time }) => time?.atMs ?? 0) : null,
    isLocal,
    series: drawn.series,
    notes: [...new Set(notes)],
  };
}

/** The places in the order of the axis, each with its rows. */
function placesOf(
  table: ResultTable,
  { x }: ChartChoice,
  notes: string[],
): { readonly places: Place[]; readonly isOrdered: boolean } {
  if (x === null) {
    const places = table.rows.map((row, at) => ({ key: String(at + 1), time: null, rows: [row] }));
    return { places, isOrdered: true };
  }
  const column = chartColumns(table)[x];
  const isOrdered = column?.role === "time" || column?.role === "number";
  const groups = Map.groupBy(table.rows, (row) => cellText(row[x]));
  const unknown = isOrdered ? groups.get("") : undefined;
  if (unknown !== undefined) {
    groups.delete("");
    const rows = unknown.length === 1 ? "1 row" : `${formatCount(unknown.length)} rows`;
    notes.push(`${rows} without ${column?.name} ${unknown.length === 1 ? "is" : "are"} left out.`);
  }
  const places = [...groups].map(([key, rows]) => ({
    key: key === "" ? NO_NAME : key,
    time: column?.role === "time" ? readTime(key) : null,
    rows,
  }));
  if (!isOrdered) return { places, isOrdered };
  const order = ({ time, key }: Place) => time?.atMs ?? Number(key);
  return { places: places.toSorted((one, other) => order(one) - order(other)), isOrdered };
}

function splitSeries(
  table: ResultTable,
  { split, y }: { readonly split: number; readonly y: number },
  places: readonly Place[],
  combined: (values: readonly unknown[]) => number | null,
): ChartSeries[] {
  const keyOf = (row: readonly unknown[]) => cellText(row[split]);
  const groups = places.map(({ rows }) => Map.groupBy(rows, keyOf));
  return [...new Set(table.rows.map(keyOf))].map((key) => ({
    name: key === "" ? NO_NAME : key,
    amounts: groups.map((rows) => combined((rows.get(key) ?? []).map((row) => row[y]))),
  }));
}

/** Returns what combines the values of the rows at one place. */
function combiner(
  name: string,
  notes: string[],
): (values: readonly unknown[]) => number | null {
  return (values) => {
    const numbers = values.flatMap((value) => {
      const number = value === null || value === undefined || value === ""
        ? Number.NaN
        : Number(value);
      return Number.isFinite(number) ? [number] : [];
    });
    if (numbers.length === 0) return null;
    const sum = numbers.reduce((all, one) => all + one, 0);
    if (numbers.length === 1) return sum;
    notes.push(
      `Several rows have the same place: ${name} is ${isAveraged(name) ? "averaged" : "added up"}.`,
    );
    return isAveraged(name) ? sum / numbers.length : sum;
  };
}

/** The largest series, and the others as one; averages of others would mean nothing. */
function fewSeries(
  series: readonly ChartSeries[],
  isWithoutRest: boolean,
  notes: string[],
): readonly ChartSeries[] {
  if (series.length <= MOST_SERIES) return series;
  const bySize = series.toSorted((one, other) => sizeOf(other) - sizeOf(one));
  const kept = new Set(bySize.slice(0, isWithoutRest ? MOST_SERIES : MOST_SERIES - 1));
  const rest = series.filter((one) => !kept.has(one));
  const shown = series.filter((one) => kept.has(one));
  notes.push(restNote(rest.length, "series", isWithoutRest));
  if (isWithoutRest) return shown;
  const amounts = (shown[0]?.amounts ?? []).map((_, at) => sumAt(rest, at));
  return [...shown, { name: `Other (${formatCount(rest.length)})`, amounts, isRest: true }];
}

/** The largest places of a category, and the others as one. */
function fewPlaces(
  places: readonly string[],
  series: readonly ChartSeries[],
  isWithoutRest: boolean,
  notes: string[],
): { readonly places: readonly string[]; readonly series: readonly ChartSeries[] } {
  if (places.length <= MOST_PLACES) return { places, series };
  const size = (at: number) =>
    series.reduce((sum, { amounts }) => sum + Math.abs(amounts[at] ?? 0), 0);
  const bySize = places.map((_, at) => at).toSorted((one, other) => size(other) - size(one));
  const kept = bySize.slice(0, isWithoutRest ? MOST_PLACES : MOST_PLACES - 1);
  const rest = bySize.slice(kept.length);
  notes.push(restNote(rest.length, "values", isWithoutRest));
  const label = isWithoutRest ? [] : [`Other (${formatCount(rest.length)})`];
  return {
    places: [...kept.map((at) => places[at] ?? ""), ...label],
    series: series.map((one) => ({
      ...one,
      amounts: [
        ...kept.map((at) => one.amounts[at] ?? null),
        ...(isWithoutRest ? [] : [sumOf(rest.map((at) => one.amounts[at] ?? null))]),
      ],
    })),
  };
}

function restNote(count: number, what: string, isWithoutRest: boolean): string {
  return `The ${formatCount(count)} smallest ${what} are ` +
    (isWithoutRest ? "left out." : "added up as Other.");
}

function sizeOf({ amounts }: ChartSeries): number {
  return amounts.reduce<number>((sum, amount) => sum + Math.abs(amount ?? 0), 0);
}

function sumAt(series: readonly ChartSeries[], at: number): number | null {
  return sumOf(series.map(({ amounts }) => amounts[at] ?? null));
}

function sumOf(amounts: readonly (number | null)[]): number | null {
  const known = amounts.filter((amount) => amount !== null);
  return known.length === 0 ? null : known.reduce((sum, amount) => sum + amount, 0);
}

const CLOCK = new Intl.DateTimeFormat("sv", {
  dateStyle: "short",
  timeStyle: "short",
});

/** Days without a time of day, and times without their seconds. */
function timeLabel({ key, time }: Place, isLocal: boolean, places: readonly Place[]): string {
  if (isLocal && time !== null) return CLOCK.format(time.atMs);
  const areDays = places.every((one) => (one.time?.atMs ?? 0) % 86_400_000 === 0);
  return areDays ? key.slice(0, 10) : key.slice(0, 16).replace("T", " ");
}
