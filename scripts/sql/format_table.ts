const MAX_CELL_LENGTH = 80;

/** Formats rows as an aligned text table. Cuts long values. The first row defines the columns. */
export function formatTable(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => toCell(row[name])))];
  const widths = names.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0))
  );
  const [head, ...body] = lines.map((line) =>
    line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ").trimEnd()
  );
  return [head, widths.map((width) => "-".repeat(width)).join("-+-"), ...body].join("\n");
}

function toCell(value: unknown): string {
  const text = value === null || value === undefined
    ? ""
    : value instanceof Date
    ? value.toISOString()
    : typeof value === "object"
    ? JSON.stringify(value)
    : String(value);
  const line = text.replaceAll("\n", "\\n");
  return line.length <= MAX_CELL_LENGTH ? line : `${line.slice(0, MAX_CELL_LENGTH - 1)}…`;
}
