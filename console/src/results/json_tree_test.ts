import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type DOMWrapper, mount, type VueWrapper } from "@vue/test-utils";
import JsonTree from "./JsonTree.vue";

const VALUE = { name: "Ada", tags: ["a", "b"], "a/b": { deep: null } };

let tree: VueWrapper;
const copied = vi.fn<(text: string) => Promise<void>>();

beforeEach(() => {
  // A virtual list renders nothing in an element without a size.
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(400);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(400);
  copied.mockReset().mockResolvedValue();
  vi.stubGlobal("navigator", { clipboard: { writeText: copied } });
});

afterEach(() => {
  tree.unmount();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function show(value: unknown): Promise<void> {
  tree = mount(JsonTree, { attachTo: document.body, props: { value, label: "Result" } });
  await vi.waitFor(() => expect(items().length).toBeGreaterThan(0));
}

function items(): DOMWrapper<Element>[] {
  return tree.findAll("[role=treeitem]");
}

function labels(): (string | undefined)[] {
  return items().map((item) => item.attributes("aria-label"));
}

async function press(...keys: string[]): Promise<void> {
  for (const key of keys) await tree.get("[role=tree]").trigger("keydown", { key });
}

async function click(name: string): Promise<void> {
  const button = tree.findAll("button").find((one) => one.text() === name);
  if (button === undefined) throw new Error(`There is no button ${name}`);
  await button.trigger("click");
}

function selectedLabel(): string | undefined {
  const id = tree.get("[role=tree]").attributes("aria-activedescendant");
  const item = items().find((one) => one.attributes("id") === id);
  expect(item?.attributes("aria-selected")).toBe("true");
  return item?.attributes("aria-label");
}

describe("the tree of a JSON value", () => {
  test("names each row, and says its place in the tree", async () => {
    await show(VALUE);

    expect(labels()).toEqual([
      "Result: { 3 members }",
      'name: "Ada"',
      "tags: [ 2 items ]",
      '0: "a"',
      '1: "b"',
      "a/b: { 1 member }",
      "deep: null",
    ]);
    const tags = items()[2];
    expect(tags?.attributes()).toMatchObject({
      "aria-level": "2",
      "aria-posinset": "2",
      "aria-setsize": "3",
      "aria-expanded": "true",
    });
    expect(items()[1]?.attributes("aria-expanded")).toBeUndefined();
  });

  test("is read, closed and opened by the keyboard alone", async () => {
    await show(VALUE);

    await press("ArrowDown", "ArrowDown");
    expect(selectedLabel()).toBe("tags: [ 2 items ]");
    await press("ArrowLeft");
    expect(labels()).not.toContain('0: "a"');
    await press("ArrowRight", "ArrowRight");
    expect(selectedLabel()).toBe('0: "a"');
    await press("End");
    expect(selectedLabel()).toBe("deep: null");
    await press("Home");
    expect(selectedLabel()).toBe("Result: { 3 members }");
  });

  test("copies the pointer and the value of the selected row", async () => {
    await show(VALUE);
    await press("End");
    await press("ArrowUp");

    await click("Copy path");
    await click("Copy value");

    expect(copied.mock.calls).toEqual([["/a~1b"], ['{\n  "deep": null\n}']]);
  });

  test("copies a string without quotes", async () => {
    await show(VALUE);
    await press("ArrowDown");

    await click("Copy value");

    expect(copied.mock.calls).toEqual([["Ada"]]);
  });

  test("starts again with a new value", async () => {
    await show(VALUE);
    await press("End");

    await tree.setProps({ value: [1] });

    await vi.waitFor(() => expect(labels()).toEqual(["Result: [ 1 item ]", "0: 1"]));
    expect(selectedLabel()).toBe("Result: [ 1 item ]");
  });

  test("renders only the visible rows of a large value", async () => {
    await show(Array.from({ length: 20_000 }, (_one, index) => index));

    expect(items().length).toBeLessThan(60);
    expect(items().at(-1)?.attributes("aria-setsize")).toBe("20000");
  });
});
