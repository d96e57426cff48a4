import { isMarkdown } from "../format/is_markdown.ts";
import { jsonInText } from "../format/json_in_text.ts";
import { withoutFences } from "../format/untrusted_text.ts";
import { cellText, findTable, type ResultTable } from "./find_table.ts";

/** How a JSON value is laid out for a reader. */
export type ValueLayout =
  | { readonly kind: "text" | "markdown"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly string[] }
  | { readonly kind: "facts"; readonly facts: readonly (readonly [string, unknown])[] }
  | { readonly kind: "table"; readonly table: ResultTable }
  | { readonly kind: "json" };

/** More members or items than this are read better as JSON, which can be searched. */
const MOST_PARTS = 100;
/** Facts inside facts are indented; deeper ones leave no room for their values. */
const MOST_LEVELS = 3;

/** The layout of a value at a level, which is 1 for the whole value. Text may be JSON or Markdown. */
export function layoutOf(given: unknown, level: number): ValueLayout {
  const value = typeof given === "string" ? jsonInText(withoutFences(given)) ?? given : given;
  if (typeof value === "string" && isMarkdown(value)) return { kind: "markdown", text: value };
  if (typeof value !== "object" || value === null) return { kind: "text", text: textOf(value) };
  if (Array.isArray(value)) {
    if (value.length <= MOST_PARTS && value.every(isScalar)) {
      return { kind: "list", items: value.map(textOf) };
    }
    const table = findTable(value);
    return table === null || table.columns.length > MOST_PARTS
      ? { kind: "json" }
      : { kind: "table", table };
  }
  const facts = Object.entries(value);
  return facts.length > MOST_PARTS || level > MOST_LEVELS
    ? { kind: "json" }
    : { kind: "facts", facts };
}

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "none";
  return typeof value === "boolean" ? (value ? "yes" : "no") : cellText(value);
}
