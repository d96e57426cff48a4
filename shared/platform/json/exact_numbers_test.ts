import assert from "node:assert/strict";
import { timed } from "../../../scripts/test/cpu_time.ts";
import { exactNumbers } from "./exact_numbers.ts";

Deno.test("exactNumbers() replaces only numbers that a floating-point number cannot hold", () => {
  const kept = [
    "0",
    "-0",
    "0.1",
    "3.14159265358979323846",
    "9007199254740992",
    "1500000000000000000",
    "1e300",
    "1E-300",
    "0e999",
    '"9007199254740993"',
    '"\\\\"',
    '"\\"9007199254740993\\""',
    "true",
    "null",
  ];
  const replaced = [
    "9007199254740993",
    "-9007199254740993",
    "1610521604143693812",
    "12345678901234567.89",
    "1e999",
    "-1e999",
    "1e-999",
    "9".repeat(500),
  ];

  for (const number of kept) assert.equal(exactNumbers(`[${number}]`).text, `[${number}]`);
  for (const number of replaced) {
    const { text, count } = exactNumbers(`{"a":[${number},1],"b":"${number}"}`);
    assert.deepEqual([text, count], [`{"a":["${number}",1],"b":"${number}"}`, 1], number);
  }
});

Deno.test("exactNumbers() reads a long text in one pass", () => {
  const long = `"${"a\\\\".repeat(1_000_000)}"`;

  assert.equal(exactNumbers(`[${long},9007199254740993]`).text, `[${long},"9007199254740993"]`);
});

Deno.test("exactNumbers() reads a text whose strings do not end in one pass", () => {
  for (const part of ['"', '\\"', '"\\', '"a\\"', "1e", "1."]) {
    const text = `${part.repeat(100_000 / part.length)}"1234567890123456`;

    const { cpuMs } = timed(() => exactNumbers(text), 200);

    assert.ok(cpuMs <= 200, `100 kB of ${part}: ${cpuMs} ms`);
  }
});
