import {
  isNotFinite,
  kindOf,
  numberOf,
  type ResultTable,
  textOfValue,
  timeOf,
} from "./result_table.ts";

/** Number of most frequent values listed for a text column. */
const MOST_FREQUENT = 3;
const VALUE_CHARACTERS = 60;

/** A summary of the rows by counting: sizes, ranges, means and the most frequent values. */
export function describeResults(table: ResultTable): string {
  const { columns, rows } = table;
  const head = `${rows.length} ${rows.length === 1 ? "row" : "rows"} with ${columns.length} ` +
    `${columns.length === 1 ? "column" : "columns"}.`;
  if (rows.length === 0) return head;
  return [head, ...columns.map((name, index) => `- ${describeColumn(table, name, index)}`)].join(
    "\n",
  );
}

function describeColumn(table: ResultTable, name: string, index: number): string {
  const all = table.rows.map((row) => row[index] ?? null);
  const values = all.filter((value) => value !== null);
  const missing = all.length - values.length;
  const gaps = missing === 0 ? "" : `; ${missing} without a value`;
  const finite = values.filter((value) => !isNotFinite(value));
  const limits = finite.length === values.length
    ? ""
    : `; ${values.length - finite.length} not finite`;
  if (values.length === 0) return `${name}: no values`;
  switch (kindOf(table, index)) {
    case "number": {
      const numbers = finite.map(numberOf);
      const sum = numbers.reduce((total, value) => total + value, 0);
      const low = numbers.reduce((least, value) => Math.min(least, value), Infinity);
      const high = numbers.reduce((most, value) => Math.max(most, value), -Infinity);
      return `${name}: ${shown(low)} to ${shown(high)}, mean ` +
        `${shown(sum / numbers.length)}, sum ${shown(sum)}${gaps}${limits}`;
    }
    case "time": {
      const times = finite.map((value) => ({ value, at: timeOf(value) }));
      const first = times.reduce((least, time) => time.at < least.at ? time : least);
      const last = times.reduce((most, time) => time.at >= most.at ? time : most);
      return `${name}: ${textOfValue(first.value)} to ${textOfValue(last.value)}${gaps}${limits}`;
    }
    case "text":
      return `${name}: ${frequent(values.map(textOfValue))}${gaps}`;
  }
}

function frequent(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, MOST_FREQUENT);
  const listed = most.map(([value, count]) =>
    `${JSON.stringify(value.slice(0, VALUE_CHARACTERS))} (${count})`
  );
  return `${counts.size} different values, most often ${listed.join(", ")}`;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(6)));
}
