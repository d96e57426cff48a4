import { isJsonObject, type JsonObject, type JsonValue } from "../../json.ts";
import { ANSWER_LIMITS } from "../../json/json_limits.ts";
import { parseJson } from "../../json/parse_json.ts";
import { parseCsv } from "./parse_csv.ts";
import { areObjects, ofObjects, type ResultTable } from "./result_table.ts";

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
  const text = withoutFence(data.trim());
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

/** The text between the tags that `execute_sql` puts around its answer. */
function withoutFence(text: string): string {
  return /^<untrusted_data [^>]*>\n([\s\S]*)\n<\/untrusted_data>$/.exec(text)?.[1]?.trim() ?? text;
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
  return { columns: names, rows: rows.map((row) => fit(listOrOne(row), names.length)) };
}

function ofList(items: readonly JsonValue[]): ResultTable {
  if (areObjects(items)) return ofObjects(items);
  if (!items.every(Array.isArray)) {
    return { columns: ["value"], rows: items.map((item) => [item]) };
  }
  const [names = [], ...rows] = items as JsonValue[][];
  return { columns: names.map(String), rows: rows.map((row) => fit(row, names.length)) };
}

function ofCsv(text: string): ResultTable {
  const [names, ...rows] = parseCsv(text);
  if (names === undefined || text === "") throw new ResultsUnreadable("it is empty");
  const values = rows.map((row) => fit(row.map((cell) => cell === "" ? null : cell), names.length));
  return { columns: names, rows: values };
}

function listOrOne(row: JsonValue): readonly JsonValue[] {
  return Array.isArray(row) ? row : [row];
}

function fit(row: readonly JsonValue[], length: number): JsonValue[] {
  return Array.from({ length }, (_, index) => row[index] ?? null);
}
