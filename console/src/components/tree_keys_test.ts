import { describe, expect, test } from "vitest";
import { pressTreeKey, type TreeRow } from "./tree_keys.ts";

interface NamedRow extends TreeRow {
  readonly name: string;
}

function row(name: string, level: number, childCount = 0, isExpanded = childCount > 0): NamedRow {
  return { name, level, childCount, isExpanded };
}

const ROWS = [
  row("root", 1, 2),
  row("open", 2, 2),
  row("first leaf", 3),
  row("second leaf", 3),
  row("closed", 2, 4, false),
];

/** The effect of a key in the tree when a row is selected, as one line. */
function press(
  key: string,
  { at, modifiers = {}, rows = ROWS }: {
    readonly at: number;
    readonly modifiers?: KeyboardEventInit;
    readonly rows?: readonly NamedRow[];
  },
): string {
  const event = new KeyboardEvent("keydown", { key, cancelable: true, ...modifiers });
  const done: string[] = [];
  pressTreeKey(event, {
    rows,
    selected: at,
    pageRows: 3,
    select: (index) => done.push(`select ${rows[index]?.name}`),
    toggle: ({ name }) => done.push(`toggle ${name}`),
    open: ({ name }) => done.push(`open ${name}`),
  });
  return `${done.join(", ")}${event.defaultPrevented ? "" : " (left to the page)"}`.trim();
}

describe("the keys of a tree", () => {
  test.each([
    ["ArrowDown", 1, "select first leaf"],
    ["ArrowDown", 4, "select closed"],
    ["ArrowDown", -1, "select root"],
    ["ArrowUp", 1, "select root"],
    ["ArrowUp", 0, "select root"],
    ["ArrowUp", -1, "select root"],
    ["PageDown", 0, "select second leaf"],
    ["PageDown", 3, "select closed"],
    ["PageUp", 4, "select open"],
    ["Home", 3, "select root"],
    ["End", 0, "select closed"],
    ["ArrowRight", 4, "toggle closed"],
    ["ArrowRight", 1, "select first leaf"],
    ["ArrowLeft", 1, "toggle open"],
    ["ArrowLeft", 3, "select open"],
    ["ArrowLeft", 4, "select root"],
    ["Enter", 2, "open first leaf"],
    [" ", 4, "open closed"],
  ])("%s in row %i: %s", (key, at, expected) => {
    expect(press(key, { at })).toBe(expected);
  });

  test("Right on a leaf moves nowhere, and the page does not scroll", () => {
    expect(press("ArrowRight", { at: 2 })).toBe("");
  });

  test("a removed row counts as the last one", () => {
    expect(press("ArrowUp", { at: 40 })).toBe("select second leaf");
  });

  test("other keys, keys with a modifier and keys in an empty tree are left to the page", () => {
    expect(press("x", { at: 0 })).toBe("(left to the page)");
    expect(press("ArrowDown", { at: 0, modifiers: { ctrlKey: true } })).toBe("(left to the page)");
    expect(press("ArrowDown", { at: -1, rows: [] })).toBe("(left to the page)");
  });
});
