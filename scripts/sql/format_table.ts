/**
 * Formats rows as an aligned text table. The first row defines the columns.
 *
 * @param maxCellLength Longer values are cut. @default 80
 */
export function formatTable(
  rows: readonly Readonly<Record<string, unknown>>[],
  maxCellLength = 80,
): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = [
    names,
    ...rows.map((row) => names.map((name) => toCell(row[name], maxCellLength))),
  ];
  const widths = names.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0))
  );
  const [head, ...body] = lines.map((line) =>
    line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ").trimEnd()
  );
  return [head, widths.map((width) => "-".repeat(width)).join("-+-"), ...body].join("\n");
}

function toCell(value: unknown, maxLength: number): string {
  const text = value === null || value === undefined
    ? ""
    : value instanceof Date
    ? value.toISOString()
    : typeof value === "object"
    ? JSON.stringify(value)
    : String(value);
  const line = text.replaceAll("\n", "\\n");
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
}
