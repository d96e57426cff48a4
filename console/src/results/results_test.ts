import { describe, expect, test } from "vitest";
import { tableToCsv, tableToJson, tableToMarkdown } from "./export_table.ts";
import { findTable } from "./find_table.ts";
import { FailureStreaks, failureStreaks } from "./failure_streak.ts";

describe("findTable()", () => {
  test("reads the columns and rows of a statement", () => {
    const table = findTable({
      columns: [{ name: "id", type: "int4" }, { name: "at", type: "timestamptz" }],
      rows: [[1, "2026-11-01T10:00:00Z"], [2, null]],
    });
    expect(table?.columns).toEqual([{ name: "id", kind: "number" }, { name: "at", kind: "time" }]);
    expect(table?.rows).toHaveLength(2);
  });

  test("finds a list of objects, and gives each member a column", () => {
    const table = findTable({ agents: [{ slug: "a" }, { slug: "b", tools: ["x"] }] });
    expect(table?.columns.map(({ name }) => name)).toEqual(["slug", "tools"]);
    expect(table?.columns[1]?.kind).toBe("json");
  });

  test("finds no table in anything else", () => {
    for (const value of [null, "text", { a: 1 }, [1, 2], { list: [] }]) {
      expect(findTable(value)).toBeNull();
    }
  });
});

describe("exports", () => {
  const table = findTable([
    { name: '=HYPERLINK("http://x")', note: 'said "hi", then left', n: -5 },
    { name: "+cmd|' /C calc'!A0", note: "two\nlines | and a bar", n: 1.5 },
  ]);
  if (table === null) throw new Error("No table found");

  test("a spreadsheet runs no cell of a CSV file", () => {
    const csv = tableToCsv(table);
    expect(csv).toContain(`"'=HYPERLINK(""http://x"")"`);
    expect(csv).toContain(`"'+cmd|' /C calc'!A0"`);
    expect(csv).toContain(`"said ""hi"", then left"`);
    expect(csv).toContain(",-5\r\n");
  });

  test("JSON contains the values unchanged", () => {
    expect(JSON.parse(tableToJson(table))[0]).toMatchObject({ n: -5 });
  });

  test("a pipe or a line break does not end a Markdown cell", () => {
    const lines = tableToMarkdown(table).trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[3]).toContain("two<br>lines \\| and a bar");
  });
});

describe("FailureStreaks", () => {
  const failed = { isError: true, errorCode: "EXCEEDED_RETRIES" };

  test("asks once per streak, and again after a success", () => {
    const streaks = new FailureStreaks();
    expect(streaks.note("a", { isError: true, errorCode: "SQL_ERROR" })).toBe(false);
    expect(streaks.note("a", failed)).toBe(true);
    expect(streaks.note("a", failed)).toBe(false);
    expect(streaks.note("b", failed)).toBe(true);
    streaks.note("a", { isError: false, errorCode: null });
    expect(streaks.note("a", failed)).toBe(true);
  });

  test("is shared by all panels of the page", () => {
    expect(failureStreaks.note("notes.search", failed)).toBe(true);
    expect(failureStreaks.note("notes.search", failed)).toBe(false);
  });
});
