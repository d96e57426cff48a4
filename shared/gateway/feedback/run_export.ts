import { visibleText } from "../../platform/values/markdown_text.ts";
import { csvLine } from "../../platform/values/csv_line.ts";
import { EXPORT_COLUMNS } from "./export_columns.ts";
import type { ExportDay, ExportRow, ExportStore } from "./export_store.ts";

/** A file of the export, or a part of a large one. */
export interface ExportFile {
  /** `feedback/2026-11-22.csv`; further parts of a large day `feedback/2026-11-22.part-2.csv`. */
  readonly path: string;
  readonly text: string;
  readonly rowCount: number;
}

/** A file that was written. */
export type WrittenFile = Omit<ExportFile, "text">;

/** The dependencies of the export. */
export interface ExportPorts {
  readonly store: ExportStore;
  /** Writes a file, replacing one of the same path. */
  writeFile(file: ExportFile): Promise<void>;
}

const PAGE_ROWS = 1_000;
/** A part is held in memory and stays far below the limits of Storage. */
const MAX_PART_CHARACTERS = 8 * 1024 * 1024;

/**
 * Writes the days one after the other. A day is recorded as exported only when it is complete, so
 * the next run repeats an interrupted one; writing a day again produces the same file.
 *
 * @throws STORAGE_UNAVAILABLE, DATABASE_UNAVAILABLE
 */
export async function runExport(
  days: readonly ExportDay[],
  ports: ExportPorts,
): Promise<readonly WrittenFile[]> {
  const written: WrittenFile[] = [];
  for (const day of days) {
    for await (const file of filesOf(day, ports.store)) {
      await ports.writeFile(file);
      written.push({ path: file.path, rowCount: file.rowCount });
    }
    await ports.store.markExported(day);
  }
  return written;
}

/** At least one file, with only the header if the day has no rows. */
async function* filesOf(day: ExportDay, store: ExportStore): AsyncGenerator<ExportFile> {
  const columns = EXPORT_COLUMNS[day.kind];
  const header = csvLine(columns);
  let part = 1;
  let text = header;
  let rowCount = 0;
  for await (const { entry } of rowsOf(day, store)) {
    if (text.length >= MAX_PART_CHARACTERS) {
      yield { path: pathOf(day, part), text, rowCount };
      [part, text, rowCount] = [part + 1, header, 0];
    }
    // Operators read what users wrote, without characters that would hide or reorder it.
    text += visibleText(csvLine(columns.map((column) => entry[column] ?? null)));
    rowCount++;
  }
  yield { path: pathOf(day, part), text, rowCount };
}

async function* rowsOf(day: ExportDay, store: ExportStore): AsyncGenerator<ExportRow> {
  let after: ExportRow | null = null;
  while (true) {
    const page: readonly ExportRow[] = await store.readPage(day, after, PAGE_ROWS);
    yield* page;
    if (page.length < PAGE_ROWS) return;
    after = page.at(-1) ?? null;
  }
}

function pathOf({ kind, day }: ExportDay, part: number): string {
  return part === 1 ? `${kind}/${day}.csv` : `${kind}/${day}.part-${part}.csv`;
}
