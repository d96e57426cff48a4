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

Deno.test("readCommandLine() takes a text that begins with an SQL comment as an argument", () => {
  const spec = { ...SPEC, positionals: "[sql]" };

  const line = readCommandLine(spec, ["-- All jobs\nselect 1;", "--json"]);
  const short = readCommandLine(spec, ["--all jobs\nselect 1;"]);

  assert.deepEqual(line.kind === "run" && line.positionals, ["\n-- All jobs\nselect 1;"]);
  assert.equal(line.kind === "run" && line.values.json, true);
  assert.deepEqual(short.kind === "run" && short.positionals, ["\n--all jobs\nselect 1;"]);
});

Deno.test("readCommandLine() reads an option by its letter, which the help shows", () => {
  const file = { type: "string", short: "f", placeholder: "FILE", help: "A file." } as const;
  const spec = { ...SPEC, options: { file } };

  const line = readCommandLine(spec, ["-f", "a.sql"]);
  const help = readCommandLine(spec, ["--help"]);

  assert.equal(line.kind === "run" && line.values.file, "a.sql");
  assert.match(help.kind === "help" ? help.text : "", /-f, --file FILE\s+A file\./);
});
