import { describe, expect, test } from "vitest";
import { findTable, type ResultTable } from "../find_table.ts";
import { chartColumns } from "./chart_columns.ts";
import { chartData } from "./chart_data.ts";
import { type ChartChoice, suggestChart, typesOf } from "./suggest_chart.ts";

function table(rows: readonly Record<string, unknown>[]): ResultTable {
  const found = findTable(rows);
  if (found === null) throw new Error("No table found");
  return found;
}

/** The suggestion with names instead of indexes. */
function suggested(of: ResultTable) {
  const choice = suggestChart(of);
  const nameOf = (index: number | null) => index === null ? null : of.columns[index]?.name;
  return choice && {
    type: choice.type,
    x: nameOf(choice.x),
    y: choice.y.map(nameOf),
    split: nameOf(choice.split),
  };
}

function drawn(of: ResultTable, change: Partial<ChartChoice> = {}) {
  const choice = suggestChart(of);
  if (choice === null) throw new Error("No chart suggested");
  return chartData(of, { ...choice, ...change });
}

const roles = (of: ResultTable) => chartColumns(of).map(({ role }) => role);

const WEEKS = Array.from(
  { length: 26 },
  (_, week) => new Date(Date.UTC(2026, 4, 25 + week * 7)).toISOString().slice(0, 10),
);
const COUNTRIES = ["DE", "EG", "JP"];
const ORDERS = table(
  WEEKS.flatMap((week, at) =>
    COUNTRIES.map((country, place) => ({ week, country, orders: at * 10 + place }))
  ),
);

describe("time × category × number", () => {
  test("is a line for each category", () => {
    expect(suggested(ORDERS)).toEqual({
      type: "lines",
      x: "week",
      y: ["orders"],
      split: "country",
    });
    const { labels, times, series, notes } = drawn(ORDERS);
    expect(labels).toEqual(WEEKS);
    expect(times?.[1]).toBe(Date.parse(WEEKS[1] ?? ""));
    expect(series.map(({ name }) => name)).toEqual(COUNTRIES);
    expect(series[2]?.amounts.slice(0, 3)).toEqual([2, 12, 22]);
    expect(notes).toEqual([]);
  });

  test("has no value where a row is missing, and a name for a missing category", () => {
    const { series } = drawn(table([
      { day: "2026-11-01", team: "a", n: 1 },
      { day: "2026-11-01", team: null, n: 2 },
      { day: "2026-11-02", team: "a", n: 3 },
      { day: "2026-11-03", team: null, n: 4 },
    ]));
    expect(series).toEqual([
      { name: "a", amounts: [1, 3, null] },
      { name: "none", amounts: [2, null, 4] },
    ]);
  });

  test("is bars if there are too few times for a line", () => {
    const two = table(
      ORDERS.rows.slice(0, 6).map(([week, country, orders]) => (
        { week, country, orders }
      )),
    );
    expect(suggested(two)).toMatchObject({ type: "bars", x: "week", split: "country" });
  });

  test("is not split by what is different in nearly every row of a list", () => {
    const raw = table(Array.from({ length: 60 }, (_, at) => ({
      placed_at: `2026-11-${String(at % 30 + 1).padStart(2, "0")}`,
      customer: `customer ${at}`,
      total: 1,
    })));
    // Each customer would be a series of one point.
    expect(suggested(raw)).toMatchObject({ x: "placed_at", split: null });
    const { series, notes } = drawn(raw);
    expect(series[0]?.amounts).toEqual(Array(30).fill(2));
    expect(notes).toEqual(["Several rows have the same place: total is added up."]);
  });
});

describe("times", () => {
  test.each([
    ["months", ["2026-01", "2026-02"]],
    ["names of months", ["January  ", "February "]],
    ["short names with a year", ["Nov 2026", "Dec 2026"]],
    ["quarters", ["2026-Q1", "2026 Q2"]],
    ["quarters before the year", ["Q3 2026", "Q4 2026"]],
    ["weeks", ["2026-W46", "2026-W47"]],
    ["years as text", ["2025", "2026"]],
    ["weekdays", ["Mon", "Tue"]],
    ["moments of PostgreSQL", ["2026-08-31 00:00:00+00", "2026-09-07 00:00:00.5+00"]],
    ["moments without a zone", ["2026-08-31T10:00:00", "2026-08-31T11:00:00"]],
  ])("%s are times", (_what, values) => {
    expect(roles(table(values.map((at) => ({ at, n: 1 }))))[0]).toBe("time");
  });

  test.each([
    ["names that only begin like months", ["marine", "junior"]],
    ["versions", ["1.2", "1.3"]],
    ["impossible dates", ["2026-13-01", "2026-14-01"]],
    ["numbers as text", ["12", "13"]],
  ])("%s are not", (_what, values) => {
    expect(roles(table(values.map((at) => ({ at, n: 1 }))))[0]).toBe("category");
  });

  test("are in order, whatever the order of the rows is", () => {
    const months = ["November", "April", "January"].map((month) => ({ month, n: month.length }));
    expect(drawn(table(months)).labels).toEqual(["January", "April", "November"]);
    const moments = ["2026-11-03", "2026-11-01", "2026-11-02"].map((day) => ({ day, n: 1 }));
    expect(drawn(table(moments)).labels).toEqual(["2026-11-01", "2026-11-02", "2026-11-03"]);
  });

  test("as years and parts of a year in numbers are times and are not added up", () => {
    expect(roles(table([{ year: 2024, n: 1 }, { year: 2025, n: 2 }]))).toEqual(["time", "number"]);
    expect(roles(table([{ y: 2024, n: 1 }, { y: 2025, n: 2 }]))).toEqual(["time", "number"]);
    expect(roles(table([{ hour: 0, n: 1 }, { hour: 23, n: 2 }]))).toEqual(["time", "number"]);
    expect(roles(table([{ week_no: 3, n: 1 }, { week_no: 47, n: 2 }])))
      .toEqual(["time", "number"]);
    // Counts that happen to be as large as years.
    expect(roles(table([{ name: "a", orders: 2000 }, { name: "b", orders: 1999 }])))
      .toEqual(["category", "number"]);
  });

  test("of numbers are in the order of the numbers, and only real times have distances", () => {
    const hours = drawn(table([{ hour: 10, n: 1 }, { hour: 9, n: 2 }, { hour: 23, n: 3 }]));
    expect([hours.labels, hours.times]).toEqual([["9", "10", "23"], null]);
  });

  test("two of them: the one with more values is the axis, the other splits", () => {
    const cohorts = table(
      ["2026-01", "2026-02"].flatMap((cohort) =>
        ["2026-03", "2026-04", "2026-05"].map((month) => ({ cohort, month, users: 1 }))
      ),
    );
    expect(suggested(cohorts)).toEqual({
      type: "lines",
      x: "month",
      y: ["users"],
      split: "cohort",
    });
    const jobs = table([1, 2, 3].map((day) => ({
      created_at: `2026-11-0${day} 10:00:00+00`,
      finished_at: `2026-11-0${day} 11:00:00+00`,
      seconds: day,
    })));
    expect(suggested(jobs)).toMatchObject({ x: "created_at", split: null });
  });

  test("that are missing leave their rows out, and the chart says so", () => {
    const { labels, notes } = drawn(table([
      { day: "2026-11-01", n: 1 },
      { day: null, n: 5 },
      { day: "2026-11-02", n: 2 },
    ]));
    expect(labels).toEqual(["2026-11-01", "2026-11-02"]);
    expect(notes).toEqual(["1 row without day is left out."]);
  });

  test("at midnight are days; others have their time of day", () => {
    const days = ["2026-08-31 00:00:00+00", "2026-09-07 00:00:00+00"];
    expect(drawn(table(days.map((at) => ({ at, n: 1 })))).labels).toEqual([
      "2026-08-31",
      "2026-09-07",
    ]);
    const hours = ["2026-08-31T10:00:00", "2026-08-31T11:30:00"];
    expect(drawn(table(hours.map((at) => ({ at, n: 1 })))).labels).toEqual([
      "2026-08-31 10:00",
      "2026-08-31 11:30",
    ]);
  });
});

describe("categories", () => {
  test("one and a number are bars in the order of the rows", () => {
    const agents = table([{ agent: "b", cost: 5 }, { agent: "a", cost: null }]);
    expect(suggested(agents)).toEqual({ type: "bars", x: "agent", y: ["cost"], split: null });
    expect(drawn(agents)).toMatchObject({
      labels: ["b", "a"],
      times: null,
      series: [{ name: "cost", amounts: [5, null] }],
    });
  });

  test("two of them are grouped bars", () => {
    const rows = COUNTRIES.flatMap((country) =>
      ["open", "paid"].map((state) => ({ country, state, n: 1 }))
    );
    expect(suggested(table(rows))).toEqual({
      type: "bars",
      x: "country",
      y: ["n"],
      split: "state",
    });
  });

  test("two of them are stacked if the bars would be too many, with the larger one as axis", () => {
    const rows = ["open", "paid", "sent"].flatMap((state) =>
      Array.from({ length: 20 }, (_, at) => ({ state, shop: `shop ${at}`, n: at }))
    );
    expect(suggested(table(rows))).toEqual({
      type: "stacked",
      x: "shop",
      y: ["n"],
      split: "state",
    });
  });

  test("booleans split", () => {
    const rows = [1, 2, 3].flatMap((day) =>
      [true, false].map((paid) => ({ day: `2026-11-0${day}`, paid, n: day }))
    );
    expect(drawn(table(rows)).series.map(({ name }) => name)).toEqual(["true", "false"]);
  });

  test("too many of them are the largest ones and the sum of the others", () => {
    const many = table(Array.from({ length: 100 }, (_, at) => ({ city: `city ${at}`, n: at })));
    const { labels, series, notes } = drawn(many);
    expect(labels).toHaveLength(40);
    expect(labels[0]).toBe("city 99");
    expect(labels.at(-1)).toBe("Other (61)");
    expect(series[0]?.amounts.at(-1)).toBe(60 * 61 / 2);
    expect(notes).toEqual(["The 61 smallest values are added up as Other."]);
  });

  test("too many series are the largest ones and the sum of the others", () => {
    const rows = ["2026-11-01", "2026-11-02", "2026-11-03"].flatMap((day) =>
      Array.from({ length: 12 }, (_, at) => ({ day, country: `c${at}`, n: at }))
    );
    const { series, notes } = drawn(table(rows));
    expect(series.map(({ name }) => name)).toEqual([
      ...["c5", "c6", "c7", "c8", "c9", "c10", "c11"],
      "Other (5)",
    ]);
    expect(series.at(-1)).toMatchObject({ amounts: [10, 10, 10], isRest: true });
    expect(notes).toEqual(["The 5 smallest series are added up as Other."]);
  });

  test("averages are neither added up nor put together", () => {
    const rows = Array.from({ length: 60 }, (_, at) => ({ city: `city ${at}`, avg_price: at }));
    const { labels, notes } = drawn(table([...rows, { city: "city 59", avg_price: 61 }]));
    expect(labels).toHaveLength(40);
    expect(labels.at(-1)).toBe("city 20");
    expect(notes).toEqual([
      "Several rows have the same place: avg_price is averaged.",
      "The 20 smallest values are left out.",
    ]);
  });
});

describe("numbers", () => {
  test("that are ids name the rows if nothing else does, and are never measured", () => {
    expect(suggested(table([{ id: 7, name: "a", n: 1 }, { id: 8, name: "b", n: 2 }])))
      .toMatchObject({ x: "name", y: ["n"] });
    expect(suggested(table([{ customer_id: 7, total: 1 }, { customer_id: 8, total: 2 }])))
      .toMatchObject({ x: "customer_id", y: ["total"] });
    expect(suggested(table([{ orderId: 7, name: "a" }, { orderId: 8, name: "b" }]))).toBeNull();
    const uuid = "01a22232-0000-7000-8000-00000000000";
    expect(roles(table([{ task: `${uuid}1`, n: 1 }, { task: `${uuid}2`, n: 2 }])))
      .toEqual(["id", "number"]);
  });

  test("in a wide table are a series each, if they are of about the same size", () => {
    const wide = table(
      WEEKS.slice(0, 4).map((week, at) => (
        { week, opened: at + 1, closed: at * 2, revenue: at * 10_000 }
      )),
    );
    expect(suggested(wide)).toEqual({
      type: "lines",
      x: "week",
      y: ["opened", "closed"],
      split: null,
    });
    expect(drawn(wide).series.map(({ name }) => name)).toEqual(["opened", "closed"]);
    expect(suggested(table([{ team: "a", won: 1, lost: 2 }, { team: "b", won: 3, lost: 0 }])))
      .toEqual({ type: "bars", x: "team", y: ["won", "lost"], split: null });
  });

  test("alone are drawn along the first if it grows, else along the rows", () => {
    expect(suggested(table([{ bucket: 0, n: 5 }, { bucket: 10, n: 7 }, { bucket: 30, n: 2 }])))
      .toEqual({ type: "lines", x: "bucket", y: ["n"], split: null });
    expect(suggested(table([{ a: 3 }, { a: 1 }, { a: 2 }])))
      .toEqual({ type: "lines", x: null, y: ["a"], split: null });
    expect(drawn(table([{ a: 3 }, { a: 1 }, { a: 2 }])).labels).toEqual(["1", "2", "3"]);
  });

  test("that are negative are not stacked", () => {
    const rows = COUNTRIES.flatMap((country) =>
      ["in", "out"].map((way) => ({ country, way, n: way === "in" ? 3 : -2 }))
    );
    const flows = table(rows);
    const choice = suggestChart(flows);
    expect(choice?.type).toBe("bars");
    expect(choice && typesOf(choice, flows)).toEqual(["lines", "bars"]);
    expect(drawn(flows).series[1]?.amounts).toEqual([-2, -2, -2]);
  });

  test("that are averages are not stacked", () => {
    const prices = table(
      COUNTRIES.flatMap((country) => ["a", "b"].map((shop) => ({ country, shop, avg_price: 1 }))),
    );
    const choice = suggestChart(prices);
    expect(choice && typesOf(choice, prices)).toEqual(["lines", "bars"]);
  });

  test("of PostgreSQL that JSON would change are numbers, and NaN is no value", () => {
    const revenue = findTable({
      columns: [{ name: "month", type: "date" }, { name: "revenue", type: "numeric" }],
      rows: [["2026-10-01", "12.50"], ["2026-11-01", 7], ["2026-12-01", "NaN"]],
    });
    if (revenue === null) throw new Error("No table found");
    expect(drawn(revenue)).toMatchObject({ series: [{ amounts: [12.5, 7, null] }] });
  });
});

test("no chart is suggested where there is nothing to compare", () => {
  expect(suggestChart(table([{ day: "2026-11-01", n: 1 }]))).toBeNull();
  expect(suggestChart(table([{ name: "a" }, { name: "b" }]))).toBeNull();
  expect(suggestChart(table([{ list: [1], n: null }, { list: [2], n: null }]))).toBeNull();
});

test("a choice of the reader is drawn whatever it is", () => {
  for (const x of [null, 0, 1, 2]) {
    for (const split of [null, 0, 1, 2]) {
      for (const y of [[2], [0, 1, 2], []]) {
        const { labels, series } = chartData(ORDERS, { type: "bars", x, split, y });
        for (const { amounts } of series) expect(amounts).toHaveLength(labels.length);
      }
    }
  }
});
