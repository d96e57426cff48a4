import { expect, test, vi } from "vitest";
import { mount, type VueWrapper } from "@vue/test-utils";
import type { ResultTable } from "../find_table.ts";
import ResultTableView from "../ResultTableView.vue";
import ResultChart from "./ResultChart.vue";

// The chart needs a canvas, which this environment does not draw on.
vi.mock("../../components/LazySeriesChart.ts", () => ({ LazySeriesChart: { render: () => null } }));

function orders(weekCount: number): ResultTable {
  return {
    columns: [
      { name: "week", kind: "time" },
      { name: "country", kind: "text" },
      { name: "orders", kind: "number" },
      { name: "revenue", kind: "number" },
    ],
    rows: Array.from({ length: weekCount * 2 }, (_, at) => [
      `2026-11-${String(10 + Math.floor(at / 2))}`,
      at % 2 === 0 ? "DE" : "EG",
      at,
      at * 10,
    ]),
  };
}

function chartOf(table: ResultTable) {
  const view = mount(ResultChart, { props: { table } });
  const valueOf = (label: string) => {
    const id = view.findAll("label").find((one) => one.text() === label)?.attributes("for");
    return (view.get(`[id="${id}"]`).element as HTMLSelectElement).value;
  };
  const choose = async (label: string, value: string) => {
    const id = view.findAll("label").find((one) => one.text() === label)?.attributes("for");
    await view.get(`[id="${id}"]`).setValue(value);
  };
  return { view, valueOf, choose };
}

/** What is drawn, which stands below as a table. */
const dataOf = (view: VueWrapper) => view.getComponent(ResultTableView).props("table");

test("what the reader chose stays for another answer with the same columns, a suggestion does not", async () => {
  const { view, valueOf, choose } = chartOf(orders(2));
  expect(valueOf("Type")).toBe("bars");
  await view.setProps({ table: orders(9) });
  expect(valueOf("Type")).toBe("lines");

  await choose("Type", "stacked");
  await view.setProps({ table: orders(8) });
  expect(valueOf("Type")).toBe("stacked");

  const { columns: [, ...others], rows } = orders(3);
  await view.setProps({ table: { columns: others, rows: rows.map(([, ...row]) => row) } });
  expect([valueOf("Type"), valueOf("X")]).toEqual(["bars", "0"]);
});

test("a split draws one column, without it several can be drawn", async () => {
  const { view, valueOf, choose } = chartOf(orders(9));
  expect([valueOf("X"), valueOf("Y"), valueOf("Split by")]).toEqual(["0", "2", "1"]);

  await choose("Split by", "");
  const boxes = () =>
    view.findAll("fieldset input").map((box) => (box.element as HTMLInputElement).checked);
  expect(boxes()).toEqual([true, false]);
  await view.findAll("fieldset input")[1]?.setValue(true);
  expect(boxes()).toEqual([true, true]);
  expect(dataOf(view).columns.map(({ name }) => name)).toEqual(["week", "orders", "revenue"]);
  await choose("Split by", "1");
  expect(valueOf("Y")).toBe("2");
});
