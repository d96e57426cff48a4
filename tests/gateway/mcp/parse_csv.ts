/** The rows of a CSV file (RFC 4180), keyed by the names in its header. */
export function parseCsv(text: string): readonly Readonly<Record<string, string>>[] {
  const [header = [], ...rows] = recordsOf(text);
  return rows.map((row) => {
    if (row.length !== header.length) throw new Error(`A row has ${row.length} cells: ${row}`);
    return Object.fromEntries(header.map((name, place) => [name, row[place] ?? ""]));
  });
}

function recordsOf(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/y;
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const found = cell.exec(text);
    if (found === null) throw new Error(`No cell at ${at}: ${text.slice(at, at + 40)}`);
    const [, quoted, plain = "", end] = found;
    record.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ",") continue;
    records.push(record);
    record = [];
  }
  return records;
}
