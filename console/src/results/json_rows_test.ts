import { describe, expect, test } from "vitest";
import { jsonRows, pathsOpenAtFirst, previewOf } from "./json_rows.ts";

describe("jsonRows()", () => {
  const value = { name: "Ada", tags: ["a", "b"], "a/b~c": { deep: null }, empty: {} };

  test("lists the open rows from top to bottom with JSON pointers", () => {
    const rows = jsonRows(value, new Set(["", "/tags", "/a~1b~0c"]));
    expect(rows.map(({ path, level }) => [path, level])).toEqual([
      ["", 1],
      ["/name", 2],
      ["/tags", 2],
      ["/tags/0", 3],
      ["/tags/1", 3],
      ["/a~1b~0c", 2],
      ["/a~1b~0c/deep", 3],
      ["/empty", 2],
    ]);
  });

  test("omits the contents of closed parts", () => {
    expect(jsonRows(value, new Set([""])).map(({ name }) => name)).toEqual([
      "",
      "name",
      "tags",
      "a/b~c",
      "empty",
    ]);
    expect(jsonRows(value, new Set())).toHaveLength(1);
  });

  test("describes each row and its size", () => {
    const rows = jsonRows(value, new Set([""]));
    expect(rows.map((row) => previewOf(row, 20))).toEqual([
      "{ 4 members }",
      '"Ada"',
      "[ 2 items ]",
      "{ 1 member }",
      "{ 0 members }",
    ]);
    const shortened = jsonRows("x".repeat(50), new Set()).map((row) => previewOf(row, 10));
    expect(shortened).toEqual([`"${"x".repeat(9)}…`]);
  });

  test("handles large values and values nested deeper than calls can be", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 20_000; level++) deep = [deep];
    expect(jsonRows(deep, new Set([""]))).toHaveLength(2);
    const large = Array.from({ length: 50_000 }, (_one, index) => index);
    expect(jsonRows(large, new Set([""]))).toHaveLength(50_001);
  });

  test("opens small parts at first, and keeps large ones closed", () => {
    const open = pathsOpenAtFirst({ few: [1, 2], many: Array.from({ length: 100 }, () => ({})) });
    expect(open.has("")).toBe(true);
    expect(open.has("/few")).toBe(true);
    expect(open.has("/many")).toBe(false);
  });
});
