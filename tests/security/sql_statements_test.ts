import assert from "node:assert/strict";
import { classifySql } from "../../shared/servers/sql/classify_sql.ts";
import { DEFAULT_SQL_POLICY } from "../../shared/servers/sql/sql_policy.ts";
import type { StatementClass } from "../../shared/servers/sql/verdict.ts";
import {
  CALLS,
  DEFINITIONS,
  FORBIDDEN,
  INVALID,
  PLACES,
  READS,
  SEVERAL,
  WRITES,
} from "./sql_statements.ts";

const LABELLED: readonly (readonly [StatementClass, readonly string[]])[] = [
  ["read", READS],
  ["write", WRITES],
  ["ddl", DEFINITIONS],
  ["forbidden", FORBIDDEN],
  ["multi", SEVERAL],
  ["invalid", INVALID],
];

for (const [kind, statements] of LABELLED) {
  Deno.test(`${statements.length} further statements are classified as ${kind}`, async () => {
    const wrong: string[] = [];
    for (const sql of statements) {
      const { statementClass, findings } = await classifySql(sql, DEFAULT_SQL_POLICY);
      if (statementClass !== kind) wrong.push(`${statementClass}: ${sql} ${findings[0]?.reason}`);
    }

    assert.deepEqual(wrong, []);
  });
}

/** A sample of all calls in all positions: each call and each position many times. */
const STRIDE = 23;

Deno.test("a forbidden call is found in every position and spelling", async () => {
  const wrong: string[] = [];
  let tried = 0;
  for (const [row, call] of CALLS.entries()) {
    for (const [column, place] of PLACES.entries()) {
      if ((row * 5 + column) % STRIDE !== 0) continue;
      const spell = SPELLINGS[(row + column) % SPELLINGS.length];
      const sql = place.replaceAll("{}", spell?.(call) ?? call);
      const { statementClass } = await classifySql(sql, DEFAULT_SQL_POLICY);
      tried++;
      if (statementClass !== "forbidden") wrong.push(`${statementClass}: ${sql}`);
    }
  }

  assert.deepEqual(wrong, []);
  assert.ok(tried > 300, `${tried} statements`);
});

const NAME = /^([a-z_]+)\(/;
const SPELLINGS: readonly ((call: string) => string)[] = [
  (call) => call,
  (call) => call.replace(NAME, (_, name: string) => `${name.toUpperCase()} /* ; */ (`),
  (call) => call.replace(NAME, '"$1"('),
  (call) => call.replace(NAME, "pg_catalog . $1("),
  (call) => call.replace(NAME, (_, name: string) => `U&"${name.replace("_", "\\005f")}"(`),
];

Deno.test("the operators that BETWEEN, CASE, IN and joins imply are named", async () => {
  const named: readonly (readonly [string, readonly string[]])[] = [
    ["select 1 between 0 and 2", ["<=", ">="]],
    ["select 1 not between symmetric 0 and 2", ["<", ">"]],
    ["select case 1 when 2 then 3 end", ["="]],
    ["select case when true then 3 end", []],
    ["select 1 in (select 2)", ["="]],
    ["select 1 in (2, 3)", ["="]],
    ["select nullif(1, 2)", ["="]],
    ["select * from products join todos using (id)", ["="]],
    ["select * from products natural join todos", ["="]],
    ["select * from products cross join todos", []],
  ];
  for (const [sql, operators] of named) {
    const { statement } = await classifySql(sql, DEFAULT_SQL_POLICY);
    const found = statement?.named.operators.filter((name) => /^[<>=]+$/.test(name)).sort();

    assert.deepEqual(found, operators, sql);
  }
});
