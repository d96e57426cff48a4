import assert from "node:assert/strict";
import { choosePorts } from "./choose_ports.ts";

Deno.test("choosePorts() returns the ports of a local Supabase by default", () => {
  assert.deepEqual(choosePorts(undefined), { api: 54321, database: 54322 });
});

Deno.test("choosePorts() gives the database the port after the API's", () => {
  assert.deepEqual(choosePorts("8000"), { api: 8000, database: 8001 });
  assert.deepEqual(choosePorts("0"), { api: 0, database: 0 }, "0 stands for any free ones");
});

Deno.test("choosePorts() refuses a value that is not a port, and the last port", () => {
  for (const text of ["high", "-1", "65535", "1e3", ""]) {
    assert.throws(() => choosePorts(text), /Cannot use --port/);
  }
});
