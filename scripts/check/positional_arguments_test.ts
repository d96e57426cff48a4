import assert from "node:assert/strict";
import { positionalCalls, sqlFunctions } from "./positional_arguments.ts";

const FUNCTIONS = new Set(["f", "tasks"]);
const find = (source: string) => positionalCalls("a.ts", source, FUNCTIONS);

Deno.test("sqlFunctions() lists what a source creates", () => {
  const source = "create function private.f(p_a int)\ncreate or replace function public.g()";

  assert.deepEqual(sqlFunctions(source), ["f", "g"]);
});

Deno.test("positionalCalls() finds a call of three arguments, be one of them named", () => {
  assert.deepEqual(find("sql`select 1;\nselect private.f(${a}, ${b}, ${c})`"), [
    "a.ts:2: call f() with named arguments: p_name => value",
  ]);
  assert.equal(find("private.f(${a}, ${b}, p_c => ${c})").length, 1);
});

Deno.test("positionalCalls() allows two arguments, and any number that are named", () => {
  assert.deepEqual(find("private.f(${a}, g(${b}, ${c}, ${d}))"), []);
  assert.deepEqual(find("private.f(p_a => ${a}, p_b => ${{ b, c }}, p_c => 'x, y, (z')"), []);
});

Deno.test("positionalCalls() knows columns of a table, comments and other functions", () => {
  assert.deepEqual(find("insert into public.tasks (a, b, c)"), []);
  assert.deepEqual(find(" * Calls private.f(a, b, c)."), []);
  assert.deepEqual(find("private.g(${a}, ${b}, ${c})"), []);
});
