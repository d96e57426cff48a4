import assert from "node:assert/strict";
import { readCommandLine } from "./command_line.ts";

const SPEC = {
  name: "deno task start",
  summary: "Boots the stack.",
  options: {
    port: { type: "string", placeholder: "N", help: "Port of the API." },
    json: { type: "boolean", help: "Print one line of JSON." },
  },
} as const;

Deno.test("readCommandLine() returns each flag's value, and false or undefined for missing flags", () => {
  const line = readCommandLine(SPEC, ["--port", "5000"]);

  assert.deepEqual(line, { kind: "run", values: { port: "5000", json: false }, positionals: [] });
});

Deno.test("readCommandLine() refuses an unknown flag with a one-line message that names it", () => {
  const line = readCommandLine(SPEC, ["--bogus"]);

  assert.equal(line.kind, "refused");
  assert.match(line.kind === "refused" ? line.message : "", /^[^\n]*--bogus[^\n]*--help$/);
});

for (
  const [typed, meant] of [["--prot=5000", "--port"], ["--jsno", "--json"], [
    "--hepl",
    "--help",
  ]] as const
) {
  Deno.test(`readCommandLine() answers the unknown flag ${typed} with the nearest one`, () => {
    const line = readCommandLine(SPEC, [typed]);

    assert.match(
      line.kind === "refused" ? line.message : "",
      new RegExp(
        `^[^\\n]*${typed.split("=")[0]}[^\\n]*\\. Did you mean ${meant}\\? See [^\\n]*--help$`,
      ),
    );
  });
}

Deno.test("readCommandLine() suggests no flag when none is similar to the unknown one", () => {
  const line = readCommandLine(SPEC, ["--bogus"]);

  assert.doesNotMatch(line.kind === "refused" ? line.message : "", /Did you mean/);
});

Deno.test("readCommandLine() refuses an unexpected positional argument", () => {
  const line = readCommandLine(SPEC, ["here"]);

  assert.equal(line.kind, "refused");
  assert.match(line.kind === "refused" ? line.message : "", /here/);
});

Deno.test("readCommandLine() refuses a flag without a value", () => {
  assert.equal(readCommandLine(SPEC, ["--port"]).kind, "refused");
});

Deno.test("readCommandLine() accepts positional arguments that the spec declares", () => {
  const line = readCommandLine({ ...SPEC, positionals: "[folder]" }, ["docs", "--json"]);

  assert.deepEqual(line.kind === "run" && line.positionals, ["docs"]);
});

Deno.test("readCommandLine() explains every flag on --help, regardless of other arguments", () => {
  const line = readCommandLine(SPEC, ["--bogus", "--help"]);

  assert.match(line.kind === "help" ? line.text : "", /--port N\s+Port of the API\.\n.*--json/s);
});
