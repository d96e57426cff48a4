import { expect, test } from "vitest";
import type { ReadableTable } from "../../queries/tables.ts";
import { exampleStatements, tableName } from "./table_statements.ts";

function table(name: string, columns: Readonly<Record<string, string>>): ReadableTable {
  return {
    schema_name: "public",
    name,
    kind: "table",
    comment: null,
    columns: Object.entries(columns).map(([name, type]) => ({ name, type, comment: null })),
  };
}

test("names are quoted where Postgres needs it", () => {
  expect(tableName({ ...table("user", {}), schema_name: "shop" })).toBe('shop."user"');
});

test("examples use the time and the group that a table has", () => {
  const jobs = table("jobs", {
    id: "uuid",
    status: "text",
    finished_at: "date",
    created_at: "timestamp with time zone",
  });
  expect(exampleStatements(jobs).map(({ label }) => label)).toEqual([
    "Newest rows",
    "Count by status",
    "Count by day",
  ]);
  expect(exampleStatements(jobs)[0]?.sql).toContain("order by created_at desc");
  expect(exampleStatements(table("pairs", { a: "integer" }))).toEqual([
    { label: "Show rows", sql: "select *\nfrom pairs\nlimit 20" },
  ]);
});
