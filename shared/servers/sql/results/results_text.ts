import { csvLine } from "../../../platform/values/csv_line.ts";
import { inlineText } from "../../../platform/values/markdown_text.ts";
import type { JsonValue } from "../../../platform/values/json.ts";
import { isNumberColumn, type ResultTable, textOfValue, toObjects } from "./result_table.ts";

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

/** A list of objects. */
export function resultsJson(table: ResultTable): string {
  return JSON.stringify(toObjects(table), null, 2);
}

function cell(value: JsonValue): string {
  const text = textOfValue(value);
  if (!/[\r\n]/.test(text)) return inlineText(text);
  return text.split(/\r\n|[\r\n]/).map(inlineText).join("<br>");
}
