import { byteLength } from "../../../platform/values/byte_length.ts";
import { csvLine } from "../../../platform/values/csv_line.ts";
import type { JsonValue } from "../../../platform/values/json.ts";
import { distinctNames } from "./result_table.ts";

/** The formats of an export. */
export type ExportFormat = "csv" | "json";

/** The media type of each format's files. */
export const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv; charset=utf-8",
  json: "application/json",
};

/**
 * Encodes rows one by one as the text of a file, up to a number of bytes: CSV with a header line
 * and escaped formulas, or a JSON list with one object per line.
 */
export class RowsEncoder {
  readonly #format: ExportFormat;
  readonly #names: readonly string[];
  readonly #maxBytes: number;
  readonly #parts: string[];
  #rowCount = 0;
  #byteCount: number;

  /** @param maxBytes Maximum size of the file; the first and last lines are always written. */
  constructor(format: ExportFormat, columns: readonly string[], maxBytes: number) {
    this.#format = format;
    this.#names = distinctNames(columns);
    this.#maxBytes = maxBytes;
    this.#parts = [format === "csv" ? csvLine(this.#names) : "["];
    this.#byteCount = byteLength(this.#parts.join("")) + byteLength(this.#end);
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Adds a row. Returns false if the file would become too large. */
  add(row: readonly JsonValue[]): boolean {
    const line = this.#format === "csv" ? csvLine(row) : this.#objectLine(row);
    const bytes = byteLength(line);
    if (this.#byteCount + bytes > this.#maxBytes) return false;
    this.#parts.push(line);
    this.#byteCount += bytes;
    this.#rowCount++;
    return true;
  }

  /** The whole file. */
  text(): string {
    return this.#parts.join("") + this.#end;
  }

  get #end(): string {
    return this.#format === "csv" ? "" : "\n]\n";
  }

  #objectLine(row: readonly JsonValue[]): string {
    const object = Object.fromEntries(this.#names.map((name, index) => [name, row[index] ?? null]));
    return `${this.#rowCount === 0 ? "\n" : ",\n"}${JSON.stringify(object)}`;
  }
}
