/** A row that has numbers to sum up. */
type Numbers<Key extends string> = Readonly<Record<Key, number | null | undefined>>;

/** Sums of rows that have something in common. */
export interface Sum<Key extends string> {
  readonly label: string;
  readonly values: Readonly<Record<Key, number>>;
}

/** Sums up columns by what the rows have in common, in the order in which it first appears. */
export function sumBy<Key extends string, Row extends Numbers<Key>>(
  rows: readonly Row[],
  columns: readonly Key[],
  labelOf: (row: Row) => string,
): Sum<Key>[] {
  const sums = new Map<string, Record<Key, number>>();
  for (const row of rows) {
    const label = labelOf(row);
    const values = sums.get(label) ??
      Object.fromEntries(columns.map((column) => [column, 0])) as Record<Key, number>;
    for (const column of columns) values[column] += row[column] ?? 0;
    sums.set(label, values);
  }
  return [...sums].map(([label, values]) => ({ label, values }));
}
