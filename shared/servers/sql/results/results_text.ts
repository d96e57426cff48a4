import { csvLine } from "../../../platform/values/csv_line.ts";
import { inlineText } from "../../../platform/values/markdown_text.ts";
import type { JsonValue } from "../../../platform/values/json.ts";
import { ResultsUnreadable } from "./read_results.ts";
import { isNumberColumn, type ResultTable, textOfValue, toObjects } from "./result_table.ts";

/** Of the names of columns, in all rows together. */
const MAX_REPEATED_CHARACTERS = 2_000_000;

/** A Markdown table; numbers are right-aligned, line breaks and bars are escaped. */
export function resultsTable(table: ResultTable): string {
  const { columns, rows } = table;
  if (columns.length === 0) return "(no columns)";
  const widths = columns.map((_, index) => isNumberColumn(table, index) ? "---:" : "---");
  return [columns, widths, ...rows]
    .map((row, line) => `| ${row.map((value) => line === 1 ? value : cell(value)).join(" | ")} |`)
    .join("\n");
}

/** CSV with a header line; spreadsheet formulas are escaped. */
export function resultsCsv({ columns, rows }: ResultTable): string {
  return [columns, ...rows].map(csvLine).join("");
}

/**
 * A list of objects.
 *
 * @throws ResultsUnreadable if names that each row repeats would make it far longer than the rows.
 */
export function resultsJson(table: ResultTable): string {
  const nameCharacters = table.columns.reduce((sum, { length }) => sum + length, 0);
  if (nameCharacters * table.rows.length > MAX_REPEATED_CHARACTERS) {
    throw new ResultsUnreadable("as JSON, each row would repeat the long names of its columns");
  }
  return JSON.stringify(toObjects(table));
}

function cell(value: JsonValue): string {
  const text = textOfValue(value);
  if (!/[\r\n]/.test(text)) return inlineText(text);
  return text.split(/\r\n|[\r\n]/).map((line) => line === "" ? "" : inlineText(line)).join("<br>");
}
