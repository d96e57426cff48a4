import assert from "node:assert/strict";
import type { ExportRow, ExportStore } from "./export_store.ts";
import { type ExportFile, runExport } from "./run_export.ts";

const DAY = { kind: "failures", day: "2026-11-22" } as const;

/** A day with the given number of rows of about the given length. */
function storeOf(rowCount: number, rowCharacters: number): ExportStore {
  const rows = Array.from({ length: rowCount }, (_, n): ExportRow => ({
    at: String(n),
    id: String(n),
    entry: { failure_id: String(n), arguments: "x".repeat(rowCharacters) },
  }));
  return {
    listDays: () => Promise.resolve([DAY]),
    readPage: (_, after, limit) => {
      const start = after === null ? 0 : Number(after.id) + 1;
      return Promise.resolve(rows.slice(start, start + limit));
    },
    markExported: () => Promise.resolve(),
  };
}

async function exported(store: ExportStore): Promise<ExportFile[]> {
  const files: ExportFile[] = [];
  await runExport([DAY], { store, writeFile: (file) => Promise.resolve(void files.push(file)) });
  return files;
}

Deno.test("runExport() writes each of a day's 100,000 rows exactly once", async () => {
  const files = await exported(storeOf(100_000, 0));

  const ids = files.flatMap(({ text }) => text.match(/^"\d+"/gm) ?? []);
  assert.equal(ids.length, 100_000);
  assert.equal(new Set(ids).size, 100_000);
});

Deno.test("runExport() splits a large day into parts that each have a header", async () => {
  const files = await exported(storeOf(6, 4 * 1024 * 1024));

  assert.deepEqual(files.map(({ path, rowCount }) => [path, rowCount]), [
    ["failures/2026-11-22.csv", 2],
    ["failures/2026-11-22.part-2.csv", 2],
    ["failures/2026-11-22.part-3.csv", 2],
  ]);
  assert.ok(files.every(({ text }) => text.startsWith('"failure_id",')));
});

Deno.test("runExport() writes only the header for a day without rows", async () => {
  const [file, ...others] = await exported(storeOf(0, 0));

  assert.deepEqual([file?.rowCount, file?.text.split("\r\n").length, others], [0, 2, []]);
});

Deno.test("runExport() writes texts without characters that hide or reorder them", async () => {
  const hidden = "safe\u202E\u200B text\u0007";
  const store: ExportStore = {
    ...storeOf(0, 0),
    readPage: () =>
      Promise.resolve([{
        at: "0",
        id: "0",
        entry: { failure_id: hidden, arguments: { [hidden]: ["می\u200Cخواهم", hidden] } },
      }]),
  };

  const [file] = await exported(store);

  assert.match(file?.text ?? "", /safe text/);
  assert.match(file?.text ?? "", /می\u200Cخواهم/, "joiners belong to words");
  for (const mark of ["\u202E", "\u200B", "\u0007"]) assert.ok(!file?.text.includes(mark));
});
