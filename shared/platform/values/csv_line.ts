import type { JsonValue } from "./json.ts";

/**
 * Characters that start a formula in a spreadsheet, also after spaces and invisible characters, and
 * as full-width forms.
 */
const FORMULA = /^[\s\p{C}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;
/** A number, which a spreadsheet reads correctly: exact numbers arrive as text. */
const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * One line of a CSV file by RFC 4180, with its line end. Texts are always quoted; one that a
 * spreadsheet would run as a formula gets a leading apostrophe. Null is an empty cell.
 */
export function csvLine(values: readonly JsonValue[]): string {
  return `${values.map(toCell).join(",")}\r\n`;
}

function toCell(value: JsonValue): string {
  if (value === null) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const isFormula = FORMULA.test(text) && !NUMBER.test(text);
  return `"${(isFormula ? `'${text}` : text).replaceAll('"', '""')}"`;
}
