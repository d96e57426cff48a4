import assert from "node:assert/strict";
import { classifySql } from "./classify_sql.ts";
import { DEFAULT_SQL_POLICY } from "./sql_policy.ts";
import type { StatementClass } from "./verdict.ts";

const classOf = async (sql: string, policy = DEFAULT_SQL_POLICY): Promise<StatementClass> =>
  (await classifySql(sql, policy)).statementClass;

async function assertClasses(kind: StatementClass, statements: readonly string[]): Promise<void> {
  const wrong: string[] = [];
  for (const sql of statements) {
    const found = await classOf(sql);
    if (found !== kind) wrong.push(`${found}: ${sql}`);
  }
  assert.deepEqual(wrong, []);
}

Deno.test("claims that a CTE sets for the rest of its statement are refused", async () => {
  const spoof = `set_config('request.jwt.claims', '{"sub":"bob"}', true)`;

  await assertClasses("forbidden", [
    `WITH s AS MATERIALIZED (SELECT ${spoof} x) SELECT t.* FROM s, todos t`,
    `SELECT * FROM todos, LATERAL (SELECT ${spoof}) s`,
    `SELECT pg_catalog."set_config"('request.jwt.claims', '{}', true)`,
    `SELECT * FROM ROWS FROM (set_config('request.jwt.claims', '{}', true)) s`,
    `SET LOCAL request.jwt.claims = '{}'`,
  ]);
});

Deno.test("a statement cannot change the role that it runs as", async () => {
  await assertClasses("forbidden", [
    "RESET ROLE",
    "SET ROLE service_role",
    "SET SESSION AUTHORIZATION postgres",
    "SELECT set_config('role', 'none', true), query_to_xml('select * from auth.users', true, false, '')",
    "DO $$ BEGIN RESET ROLE; END $$",
    "EXPLAIN SELECT set_config('role', 'none', true)",
  ]);
});

Deno.test("calls and constants that the planner evaluates are refused in EXPLAIN as well", async () => {
  await assertClasses("forbidden", [
    "EXPLAIN SELECT imm_sleep(1)",
    "EXPLAIN SELECT repeat(repeat('x',10000),20000)",
    "EXPLAIN SELECT lpad('x', 1000000000)",
    "EXPLAIN SELECT array_fill(0, ARRAY[100000, 100000])",
    "EXPLAIN SELECT repeat('x', 1000 * 1000 * 1000)",
    "SELECT replace(repeat('x', 900000), 'x', repeat('y', 900000))",
  ]);
  await assertClasses("read", [
    "SELECT repeat('=', 40)",
    "SELECT repeat('*', price::int) FROM products",
    "SELECT lpad(id::text, 8, '0') FROM products",
  ]);
});

Deno.test("nesting and length above the limits are invalid, and the next statement is still classified", async () => {
  await assertClasses("invalid", [
    `SELECT ${"1+".repeat(9_000)}1`,
    `SELECT ${"(SELECT ".repeat(1_500)}1${")".repeat(1_500)}`,
    `SELECT ${"-- ".repeat(10_000)}\n1`,
    "SELECT 1\0; DROP TABLE products",
    "SELECT '\ud800'",
  ]);

  await assertClasses("read", [`SELECT ${"(SELECT ".repeat(40)}1${")".repeat(40)}`, "SELECT 1"]);
});

Deno.test("statements with different constants have different canonical trees", async () => {
  const statements = [
    "DELETE FROM products WHERE id = 1",
    "DELETE FROM products WHERE id = 2",
    "DELETE FROM products WHERE id = '1'",
    "DELETE FROM products WHERE id IN (1)",
    "DELETE FROM products WHERE id IN (1, 2, 3)",
    "DELETE FROM products WHERE id = $1",
    "DELETE FROM products WHERE id = 1.0",
    "DELETE FROM products WHERE id = 1.00",
    "DELETE FROM ONLY products WHERE id = 1",
    'DELETE FROM "Products" WHERE id = 1',
  ];
  const trees = await Promise.all(statements.map(treeOf));

  assert.equal(new Set(trees).size, statements.length);
  assert.equal(
    await treeOf('/* all */ delete from "products"\nwhere ID=1 ; -- gone'),
    await treeOf("DELETE FROM products WHERE id = 1"),
  );
});

Deno.test("the executable text is exactly one statement, without the surrounding text", async () => {
  const { statement } = await classifySql(
    "/* é */ ; SELECT 'é; DROP' ; -- end",
    DEFAULT_SQL_POLICY,
  );

  assert.match(statement?.text ?? "", /SELECT 'é; DROP'$/);
});

Deno.test("comments between words that the grammar reads as one change nothing", async () => {
  await assertClasses("read", [
    "SELECT 1 WHERE 1 NOT /* ; */ IN (2)",
    "SELECT 1 ORDER BY 1 NULLS -- '\n LAST",
    "SELECT $q$ -- not a comment $q$ WHERE 'a' NOT /* x /* y */ */ LIKE E'\\'--'",
  ]);
});

Deno.test("parts of definitions and writes are checked against the same lists", async () => {
  await assertClasses("forbidden", [
    "ALTER TABLE todos DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE products OWNER TO anon",
    "ALTER VIEW v SET (security_invoker = false)",
    "DROP FUNCTION f",
    "DROP TABLE auth.users",
    "DROP SCHEMA auth CASCADE",
    "ALTER TABLE products SET SCHEMA auth",
    "CREATE TABLE t (LIKE auth.users)",
    "CREATE TABLE t (x int DEFAULT evil())",
    "CREATE INDEX ON products (evil(name))",
    "CREATE SCHEMA s GRANT ALL ON t TO anon",
    "INSERT INTO pg_class DEFAULT VALUES",
    "UPDATE products SET price = evil()",
    "DELETE FROM products WHERE CURRENT OF c",
    "SELECT 'x'::auth.aal_level",
    "SELECT * FROM other.public.products",
    "SELECT * FROM products ORDER BY name USING OPERATOR(public.<)",
    "SELECT current_setting('request.jwt.' || 'claims')",
    "SHOW ALL",
  ]);
});

Deno.test("EXPLAIN of a write is a read unless an option may run the write", async () => {
  await assertClasses("read", [
    "EXPLAIN DELETE FROM products",
    "EXPLAIN (ANALYZE off, ANALYZE false, ANALYZE 0) DELETE FROM products",
  ]);
  await assertClasses("write", [
    "EXPLAIN (ANALYZE off, ANALYZE) DELETE FROM products",
    "EXPLAIN (ANALYZE 1) DELETE FROM products",
    "EXPLAIN (ANALYZE nonsense) DELETE FROM products",
  ]);
});

Deno.test("the policy allows schemas and functions, and nothing else", async () => {
  const policy = {
    exposedSchemas: ["public", "shop"],
    readFunctions: ["public.find_products"],
    writeFunctions: ["shop.restock"],
  };

  assert.equal(await classOf("SELECT * FROM shop.orders", policy), "read");
  assert.equal(await classOf("SELECT * FROM shop.orders"), "forbidden");
  assert.equal(await classOf("SELECT find_products('x')", policy), "read");
  assert.equal(await classOf("SELECT find_products('x')"), "forbidden");
  assert.equal(await classOf("SELECT shop.restock(1)", policy), "write");
  assert.equal(await classOf("SELECT auth.users() FROM auth.users", policy), "forbidden");
});

Deno.test("a finding contains its position and reason", async () => {
  const sql = "SELECT 'é', pg_sleep(1)";
  const { findings: [finding] } = await classifySql(sql, DEFAULT_SQL_POLICY);
  const { findings: [syntax] } = await classifySql("SELECT 'é' FROM FROM", DEFAULT_SQL_POLICY);

  assert.equal(finding?.position, sql.indexOf("pg_sleep"));
  assert.match(finding?.reason ?? "", /pg_sleep\(\) is not on the list/);
  assert.equal(syntax?.position, 16);
});

async function treeOf(sql: string): Promise<string> {
  return (await classifySql(sql, DEFAULT_SQL_POLICY)).statement?.canonicalTree ?? "";
}

Deno.test("a WHERE clause without a column counts as none", async () => {
  const lacksWhere = async (sql: string) =>
    (await classifySql(sql, DEFAULT_SQL_POLICY)).statement?.lacksWhere;

  for (const clause of ["", "WHERE true", "WHERE 1 = 1", "WHERE $1", "WHERE (SELECT true)"]) {
    assert.equal(await lacksWhere(`DELETE FROM todos ${clause}`), true, clause);
    assert.equal(await lacksWhere(`UPDATE todos SET done = id > 1 ${clause}`), true, clause);
  }
  for (const clause of ["WHERE id = 1", "WHERE NOT done", "WHERE EXISTS (SELECT id FROM old)"]) {
    assert.equal(await lacksWhere(`DELETE FROM todos ${clause}`), false, clause);
  }
});

Deno.test("a schema in mixed case without quotes is refused with the name that is exposed", async () => {
  const policy = { ...DEFAULT_SQL_POLICY, exposedSchemas: ["public", "Sales", "order"] };
  const reasonOf = async (sql: string) =>
    (await classifySql(sql, policy)).findings[0]?.reason ?? "";

  assert.match(await reasonOf("select * from Sales.t"), /schema sales: write "Sales", because/);
  assert.match(await reasonOf('select * from "ORDER".t'), /schema "ORDER": write "order", because/);
  assert.match(await reasonOf("select * from other.t"), /"other" is not exposed: ask an operator/);
  assert.equal(await reasonOf('select * from "Sales".t'), "");
});

Deno.test("more columns than a result can have are refused by their count", async () => {
  const columns = (count: number) => `select ${Array(count).fill("a").join(", ")} from t`;

  assert.equal(await classOf(columns(1_664)), "read");
  const { statementClass, findings: [finding] } = await classifySql(
    columns(1_665),
    DEFAULT_SQL_POLICY,
  );
  assert.equal(statementClass, "invalid");
  assert.match(finding?.reason ?? "", /1665 columns; at most 1664/);
});
