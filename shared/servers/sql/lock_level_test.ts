import assert from "node:assert/strict";
import { classifySql } from "./classify_sql.ts";
import { lockWarning } from "./lock_level.ts";
import { DEFAULT_SQL_POLICY } from "./sql_policy.ts";

Deno.test("lockWarning() names the lock that PostgreSQL takes", async () => {
  const locks: [string, RegExp | null][] = [
    ["select 1", null],
    ["update products set price = 1", /Lock ROW EXCLUSIVE: reads continue/],
    [
      "alter table products add column note text",
      /Lock ACCESS EXCLUSIVE: all other transactions wait/,
    ],
    ["drop table products", /ACCESS EXCLUSIVE/],
    ["create index on products (name)", /Lock SHARE: reads continue, writes wait/],
    ["comment on table products is 'x'", /Lock SHARE UPDATE EXCLUSIVE/],
    ["create table notes (id int)", /it locks no existing object/],
  ];
  for (const [sql, expected] of locks) {
    const { statement, statementClass } = await classifySql(sql, DEFAULT_SQL_POLICY);
    assert.ok(
      statement !== null && ["read", "write", "ddl"].includes(statementClass),
      statementClass,
    );
    const warning = lockWarning(statement, statementClass as "read" | "write" | "ddl");
    if (expected === null) assert.equal(warning, null);
    else assert.match(warning ?? "", expected, sql);
  }
});
