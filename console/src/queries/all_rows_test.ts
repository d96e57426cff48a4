import { describe, expect, test } from "vitest";
import { allRows } from "./all_rows.ts";

describe("allRows()", () => {
  test("reads every row of a project whose answers are shorter than requested", async () => {
    const rows = Array.from({ length: 1_250 }, (_one, index) => index);
    const asked: number[] = [];
    const read = await allRows((from, to) => {
      asked.push(from);
      const data = rows.slice(from, Math.min(to + 1, from + 500));
      return Promise.resolve({ data, error: null, status: 206, count: rows.length });
    });
    expect(read).toEqual(rows);
    expect(asked).toEqual([0, 500, 1_000]);
  });

  test("ends when rows disappear while they are read", async () => {
    const answers = [[1, 2], []];
    const read = await allRows(() =>
      Promise.resolve({ data: answers.shift() ?? [], error: null, status: 206, count: 3 })
    );
    expect(read).toEqual([1, 2]);
  });

  test("fails with the error of a page", async () => {
    const error = { message: "No", code: "42501" };
    await expect(
      allRows(() => Promise.resolve({ data: null, error, status: 403, count: null })),
    ).rejects.toThrow("No");
  });
});
