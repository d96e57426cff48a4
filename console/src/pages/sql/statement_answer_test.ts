import { expect, test } from "vitest";
import type { Json } from "../../../../client/mod.ts";
import {
  attemptsOf,
  generatedSql,
  parameterCount,
  seemsToRead,
  tableNames,
} from "./statement_answer.ts";

function resultOf(structuredContent: Json, text = "") {
  return { content: [{ type: "text", text }], structuredContent };
}

test("generatedSql() reads the field, otherwise the code block", () => {
  expect(generatedSql(resultOf({ sql: "select 1" }))).toBe("select 1");
  expect(generatedSql(resultOf(null, "Here:\n```sql\nselect 2\n```"))).toBe("select 2");
  expect(generatedSql(resultOf(null, "no statement"))).toBeNull();
});

test("attemptsOf() finds the attempts anywhere in a refusal", () => {
  const attempts = [{ attempt: 1, sql: "selec", error: "syntax error" }];
  for (
    const where of [{ attempts }, { error: { attempts } }, { error: { details: { attempts } } }]
  ) {
    expect(attemptsOf(resultOf(where))).toEqual([{ sql: "selec", error: "syntax error" }]);
  }
  const refused = { content: [], _meta: { attempts: [{ sql: null, error: { code: "X" } }] } };
  expect(attemptsOf(refused)).toEqual([{ sql: "", error: '{"code":"X"}' }]);
  expect(attemptsOf(resultOf(null))).toEqual([]);
});

test("seemsToRead() is true only for statements that begin as reads and name no write", () => {
  const reads = [
    "select 1",
    "-- all\n (Select 1)",
    "/* a */ with a as (select 1) select 2",
    "table t",
  ];
  const others = [
    "update t set a = 1",
    "with gone as (delete from t returning *) select * from gone",
    "-- select\ninsert into t values (1)",
    "create table t ()",
    "",
  ];
  expect(reads.map(seemsToRead)).toEqual(reads.map(() => true));
  expect(others.map(seemsToRead)).toEqual(others.map(() => false));
});

test("tableNames() reads both names and objects", () => {
  expect(tableNames({ tables: ["public.tasks", { schema: "shop", name: "orders" }] })).toBe(
    "public.tasks, shop.orders",
  );
});

test("parameterCount() counts parameters, not amounts of money or quoted bodies", () => {
  expect(parameterCount("select $1, $3 from t where a = $2")).toBe(3);
  expect(parameterCount("select '5$' || $$body$$")).toBe(0);
});
