import { withoutFence } from "../../../gateway/tool_contracts/fence_data.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../platform/values/json.ts";
import { ANSWER_LIMITS } from "../../../platform/json/json_limits.ts";
import { parseJson } from "../../../platform/json/parse_json.ts";
import { areObjects, namesOf, type ResultTable } from "./result_table.ts";

/**
 * Rows times columns. The cells of JSON's lists are limited to as many; objects with different
 * names and short lines below a long header would become tables that are far larger than the text.
 */
const MAX_CELLS = 50_000;

/** A text without readable rows, with the reason. */
export class ResultsUnreadable extends Error {
  override readonly name = "ResultsUnreadable";
}

/**
 * The rows of a text: an answer of `execute_sql`, also with its fence; JSON as a list of objects, a
 * list of lists with a header row, or one object; or CSV.
 *
 * @throws ResultsUnreadable
 */
export function readResults(data: string): ResultTable {
  const text = withoutFence(data.trim()).trim();
  if (text === "") throw new ResultsUnreadable("it is empty");
  if (!/^[[{]/.test(text)) return ofCsv(text);
  const parsed = parseJson(text, ANSWER_LIMITS);
  switch (parsed.kind) {
    case "json":
      return ofJson(parsed.value);
    case "too_large":
      throw new ResultsUnreadable("the JSON is larger or deeper than what can be formatted");
    case "not_json":
      throw new ResultsUnreadable("it starts like JSON but is not valid JSON");
  }
}

function ofJson(value: JsonValue): ResultTable {
  if (Array.isArray(value)) return ofList(value);
  if (!isJsonObject(value)) throw new ResultsUnreadable("it is neither a list nor an object");
  const { columns, rows } = value;
  if (Array.isArray(columns) && Array.isArray(rows)) return ofColumns(columns, rows);
  const list = value.rows ?? value.data;
  return Array.isArray(list) ? ofList(list) : ofObjects([value as JsonObject]);
}

function ofColumns(columns: readonly JsonValue[], rows: readonly JsonValue[]): ResultTable {
  const names = columns.map((column) =>
    isJsonObject(column) ? String(column.name ?? "") : String(column)
  );
  if (rows.length > 0 && areObjects(rows)) return ofObjects(rows);
  return tableOf(names, rows.map(listOrOne));
}

/** Objects as rows under their members' names. */
function ofObjects(objects: readonly JsonObject[]): ResultTable {
  const columns = namesOf(objects);
  assertSize(objects.length, columns.length);
  const valueOf = (object: JsonObject, name: string) =>
    Object.hasOwn(object, name) ? object[name] ?? null : null;
  const rows = objects.map((object) => columns.map((name) => valueOf(object, name)));
  return { columns, rows };
}

function ofList(items: readonly JsonValue[]): ResultTable {
  if (areObjects(items)) return ofObjects(items);
  if (!items.every(Array.isArray)) {
    return { columns: ["value"], rows: items.map((item) => [item]) };
  }
  const [names = [], ...rows] = items as JsonValue[][];
  return tableOf(names.map(String), rows);
}

function ofCsv(text: string): ResultTable {
  const [names = [], ...rows] = linesOf(text);
  return tableOf(names, rows.map((row) => row.map((cell) => cell === "" ? null : cell)));
}

function linesOf(text: string): string[][] {
  try {
    return parseCsv(text, MAX_CELLS);
  } catch (error) {
    throw error instanceof TooManyCellsError ? tooLarge() : error;
  }
}

function listOrOne(row: JsonValue): readonly JsonValue[] {
  return Array.isArray(row) ? row : [row];
}

/** Rows that are as long as the header. */
function tableOf(columns: readonly string[], rows: readonly (readonly JsonValue[])[]): ResultTable {
  assertSize(rows.length, columns.length);
  return { columns, rows: rows.map((row) => columns.map((_, index) => row[index] ?? null)) };
}

function assertSize(rowCount: number, columnCount: number): void {
  if (rowCount * columnCount > MAX_CELLS) throw tooLarge();
}

function tooLarge(): ResultsUnreadable {
  return new ResultsUnreadable(
    `its rows and columns have more than ${MAX_CELLS} cells together: send fewer of them`,
  );
}

/** A text has more cells than its reader takes. */
class TooManyCellsError extends Error {
  override readonly name = "TooManyCellsError";
}

/**
 * The lines of a CSV text by RFC 4180. The separator is the most frequent of comma, semicolon and
 * tab in the first line; blank lines are skipped.
 *
 * @throws TooManyCellsError for more cells than `maxCells`, counting blank lines.
 */
export function parseCsv(text: string, maxCells = Infinity): string[][] {
  const separator = separatorOf(text);
  const nextEnd = new RegExp(`[${separator}\n]`, "g");
  const lines: string[][] = [];
  let line: string[] = [];
  let cellCount = 0;
  for (let start = 0; start <= text.length;) {
    if (++cellCount > maxCells) throw new TooManyCellsError();
    const quoted = text[start] === '"' ? quotedAt(text, start) : { value: "", end: start };
    nextEnd.lastIndex = quoted.end;
    const end = nextEnd.exec(text)?.index ?? text.length;
    const isLineEnd = text[end] !== separator;
    const rest = text.slice(quoted.end, end);
    line.push(quoted.value + (isLineEnd && end < text.length ? rest.replace(/\r$/, "") : rest));
    if (isLineEnd) {
      if (line.length > 1 || line[0] !== "") lines.push(line);
      line = [];
    }
    start = end + 1;
  }
  return lines;
}

/** A quoted cell without its quotes, and the index after it. One without an end goes to the end. */
function quotedAt(text: string, start: number): { readonly value: string; readonly end: number } {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  const value = text.slice(start + 1, end === -1 ? text.length : end).replaceAll('""', '"');
  return { value, end: end === -1 ? text.length : end + 1 };
}

function separatorOf(text: string): string {
  const firstEnd = text.indexOf("\n");
  const counts = new Map([[",", 0], [";", 0], ["\t", 0]]);
  for (let index = 0; index < (firstEnd === -1 ? text.length : firstEnd); index++) {
    const count = counts.get(text[index] ?? "");
    if (count !== undefined) counts.set(text[index] ?? "", count + 1);
  }
  const [[most] = [","]] = [...counts].sort(([, a], [, b]) => b - a);
  return most;
}
