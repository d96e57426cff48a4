import assert from "node:assert/strict";
import { splitStatements } from "./split_statements.ts";

const texts = (sql: string) => splitStatements(sql).map((statement) => statement.text);

Deno.test("splitStatements() splits at semicolons and drops blank and comment-only text", () => {
  assert.deepEqual(texts("select 1;\n\n select 2 ;; -- the end\n/* ; */\n"), [
    "select 1",
    "select 2",
  ]);
});

Deno.test("splitStatements() returns the line on which each statement starts, after its comments", () => {
  const statements = splitStatements("-- one; two\n\nselect 1;\n/* a\nb */ select\n2;");

  assert.deepEqual(statements, [
    { text: "select 1", line: 3 },
    { text: "select\n2", line: 5 },
  ]);
});

for (
  const [what, statement] of [
    ["a string", "select 'a;''b;'"],
    ["a string with backslashes", String.raw`select 'a\', 'b;'`],
    ["an escape string", String.raw`select E'a\';b', e'\\;'`],
    ["a quoted name", 'select 1 as "a;""b"'],
    ["a dollar quote", "do $$ begin perform 1; end $$"],
    ["a tagged dollar quote", "do $f$ begin execute $$ select 1; $$; end $f$"],
    ["a line comment", "select 1 -- not; here\n+ 1"],
    ["a nested block comment", "select 1 /* a; /* b; */ c; */ + 1"],
    ["parentheses", "create rule r as on insert to t do also (delete from a; delete from b)"],
    [
      "an atomic body",
      "create or replace function f(i int) returns int language sql\nbegin atomic\n" +
      "  select case i when 1 then 2 end;\n  select 3;\nend",
    ],
    ["a positional parameter before a dollar quote", "prepare p as select $1, $$;$$"],
    ["a name with a dollar", "select a$b$c; ".slice(0, -2)],
  ] as const
) {
  Deno.test(`splitStatements() does not split ${what}`, () => {
    assert.deepEqual(texts(`${statement};\nselect 'next';`), [statement, "select 'next'"]);
  });
}

Deno.test("splitStatements() treats begin and end outside routines as transactions", () => {
  assert.deepEqual(texts("begin; select case when true then 1 end; end;"), [
    "begin",
    "select case when true then 1 end",
    "end",
  ]);
});

Deno.test("splitStatements() extends an unclosed string to the end of the file", () => {
  assert.deepEqual(texts("select 1; select 'a; b"), ["select 1", "select 'a; b"]);
});
