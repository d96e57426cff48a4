import assert from "node:assert/strict";
import type { JsonObject } from "../../../platform/values/json.ts";
import { fenceData } from "../../../gateway/tool_contracts/fence_data.ts";
import { describeResults } from "./describe_results.ts";
import { readResults, ResultsUnreadable } from "./read_results.ts";
import { resultsChart } from "./results_chart.ts";
import { resultsCsv, resultsJson, resultsTable } from "./results_text.ts";

const ORDERS = { columns: ["city", "total"], rows: [["Bonn", 3], ["Köln", -1.5]] };

Deno.test("readResults() reads rows in every supported form", () => {
  const answer = JSON.stringify({
    statement_class: "read",
    columns: [{ name: "city", type: "text" }, { name: "total", type: "numeric" }],
    rows: ORDERS.rows,
  });
  const forms = [
    answer,
    fenceData(answer, "execute_sql"),
    '[{"city":"Bonn","total":3},{"city":"Köln","total":-1.5}]',
    '[["city","total"],["Bonn",3],["Köln",-1.5]]',
    '{"data":[{"city":"Bonn","total":3},{"city":"Köln","total":-1.5}]}',
  ];
  for (const form of forms) assert.deepEqual(readResults(form), ORDERS, form);
  assert.deepEqual(readResults('city;note\r\n"B;o""nn";\r\n'), {
    columns: ["city", "note"],
    rows: [['B;o"nn', null]],
  });
});

Deno.test("readResults() refuses input without rows", () => {
  for (const text of ["", "   ", '[{"a":1}', "[".repeat(5_000)]) {
    assert.throws(() => readResults(text), ResultsUnreadable, text.slice(0, 20));
  }
});

Deno.test("resultsTable() keeps every value in its cell", () => {
  const text = resultsTable({
    columns: ["a|b", "n"],
    rows: [["two\nlines", 1], ["<b>`x`</b> \\|", 2]],
  });

  assert.equal(
    text,
    "| a\\|b | n |\n| --- | ---: |\n| two<br>lines | 1 |\n| &lt;b>\\`x\\`&lt;/b> \\\\\\| | 2 |",
  );
});

Deno.test("resultsCsv() escapes formulas and keeps exact numbers", () => {
  const text = resultsCsv({
    columns: ["=name", "amount"],
    rows: [['=HYPERLINK("x")', "-12.50"], ["@a", -3]],
  });

  assert.equal(text, `"'=name","amount"\r\n"'=HYPERLINK(""x"")","-12.50"\r\n"'@a",-3\r\n`);
});

Deno.test("resultsJson() renames duplicate columns", () => {
  const text = resultsJson({ columns: ["id", "id"], rows: [[1, 2]] });

  assert.deepEqual(JSON.parse(text), [{ id: 1, id_2: 2 }]);
});

Deno.test("resultsChart() draws bars for texts, lines for times and points for numbers", () => {
  const markOf = (columns: string[], rows: (string | number | null)[][]) =>
    (resultsChart({ columns, rows })?.vegaLite.mark as JsonObject | undefined)?.type;

  assert.equal(markOf(["city", "total"], ORDERS.rows), "bar");
  assert.equal(
    markOf(["total", "day"], [[1, "2026-01-01"], [2, "2026-01-02 10:00:00+00"]]),
    "line",
  );
  assert.equal(markOf(["a", "b"], [[1, "2.5"], [2, null]]), "point");
  assert.equal(markOf(["n"], [[1], [2]]), "bar");
  assert.equal(markOf(["city"], [["Bonn"]]), undefined);
});

Deno.test("resultsChart() returns data for any rows", () => {
  const hostile = `</text><script>alert(1)</script>" onload="x`;
  const chart = resultsChart({
    columns: [`a.b[0]${hostile}`, "datum['x']"],
    rows: [[hostile, 1], ["\u0000&", 2], ['{"expr":"x"}', Number.MAX_VALUE]],
  });

  assert.ok(chart);
  assert.doesNotMatch(chart.svg, /<script|onload="|NaN|Infinity/);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(chart.svg, /[\u0000-\u0008]/);
  const { data: _, ...specification } = chart.vegaLite;
  assert.doesNotMatch(JSON.stringify(specification), /"(expr|signal|transform|href|url)":/);
  const { x, y } = specification.encoding as Record<string, JsonObject>;
  assert.deepEqual([x?.field, y?.field], ["x", "y"]);
});

Deno.test("the length of a bar is its value, even below zero", () => {
  const chart = resultsChart(ORDERS);
  const bars = [...chart?.svg.matchAll(/<rect [^>]*y="([\d.]+)"[^>]*height="([\d.]+)"/g) ?? []]
    .map(([, top, height]) => [Number(top), Number(height)] as const)
    .filter(([, height]) => height !== 10);

  const [bonn, cologne] = bars;
  assert.ok(bonn && cologne);
  assert.ok(Math.abs(bonn[1] / cologne[1] - 2) < 0.01, JSON.stringify(bars));
  assert.ok(Math.abs(bonn[0] + bonn[1] - cologne[0]) < 0.2, "both start at zero");
});

Deno.test("a chart of one day has a point in its middle, and one of one category a narrow bar", () => {
  const day = resultsChart({ columns: ["day", "jobs"], rows: [["2026-01-01", 3]] });
  const [, x, y] = /<circle cx="([\d.]+)" cy="([\d.]+)"/.exec(day?.svg ?? "") ?? [];
  assert.ok(Math.abs(Number(x) - 347) < 1, `x is ${x}`);
  assert.equal(Number(y), 28, "the value is the top of an axis that begins at 0");

  const category = resultsChart({ columns: ["city", "total"], rows: [["Bonn", 3]] });
  const widths = [...category?.svg.matchAll(/<rect [^>]*width="([\d.]+)"/g) ?? []]
    .map(([, width]) => Number(width));
  assert.ok(Math.max(...widths) <= 64, `the bars are ${widths}`);
});

Deno.test("describeResults() counts countable values", () => {
  const text = describeResults({
    columns: ["city", "total", "day"],
    rows: [["Bonn", 1, "2026-01-02"], ["Bonn", 3, "2026-01-01"], ["Köln", null, null]],
  });

  assert.match(text, /^3 rows with 3 columns\.$/m);
  assert.match(text, /city: 2 different values, most often "Bonn" \(2\), "Köln" \(1\)/);
  assert.match(text, /total: 1 to 3, mean 2, sum 4; 1 without a value/);
  assert.match(text, /day: 2026-01-01 to 2026-01-02; 1 without a value/);
});

Deno.test("NaN and infinite values do not make their column a text", () => {
  const table = {
    columns: ["share", "until"],
    rows: [[1, "2026-01-01"], ["NaN", "infinity"], ["-Infinity", "2026-01-02"]],
  };

  const text = describeResults(table);

  assert.match(text, /share: 1 to 1, mean 1, sum 1; 2 not finite/);
  assert.match(text, /until: 2026-01-01 to 2026-01-02; 1 not finite/);
  assert.equal((resultsChart(table)?.vegaLite.mark as JsonObject | undefined)?.type, "line");
  assert.doesNotMatch(resultsChart(table)?.svg ?? "", /="(NaN|-?Infinity)"/);
  assert.match(resultsTable(table), /^\| ---: \| --- \|$/m);
});
