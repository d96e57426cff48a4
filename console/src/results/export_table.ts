import { cellText, type ResultTable } from "./find_table.ts";

/** Spreadsheets run a cell that begins with one of these as a formula. */
const FORMULA_START = /^[=+\-@\t\r]/;
/** A plain negative number is not a formula. */
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The table as CSV (RFC 4180), in which a spreadsheet runs nothing. */
export function tableToCsv({ columns, rows }: ResultTable): string {
  const lines = [columns.map(({ name }) => name), ...rows.map((row) => row.map(cellText))];
  return lines.map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

function csvCell(text: string): string {
  const isFormula = FORMULA_START.test(text) && !NUMBER.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || isFormula ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The table as a list of objects. */
export function tableToJson({ columns, rows }: ResultTable): string {
  const objects = rows.map((row) =>
    Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null]))
  );
  return JSON.stringify(objects);
}

export function tableToMarkdown({ columns, rows }: ResultTable): string {
  const line = (cells: readonly string[]) => `| ${cells.map(markdownCell).join(" | ")} |`;
  const marks = columns.map(({ kind }) => (kind === "number" ? "---:" : "---"));
  return [
    line(columns.map(({ name }) => name)),
    `| ${marks.join(" | ")} |`,
    ...rows.map((row) => line(row.map(cellText))),
  ].join("\n") + "\n";
}

function markdownCell(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("|", "\\|").replaceAll(/\r?\n/g, "<br>");
}
