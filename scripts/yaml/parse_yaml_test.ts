import assert from "node:assert/strict";
import { loadYaml } from "../deps.ts";
import { timed } from "../test/cpu_time.ts";
import { yamlParser } from "./parse_yaml.ts";

const parse = yamlParser(await loadYaml());
const CHARACTERS = 128 * 1024;
/** Half a second is usual; the parser's excerpts and its search for repeated keys need several. */
const MAX_CPU_MS = 1_800;

const WORST: Readonly<Record<string, string>> = {
  quotes: '"'.repeat(CHARACTERS),
  keys: Array.from({ length: CHARACTERS / 5 }, (_, index) => `k${index}: v`).join("\n"),
};

for (const [name, text] of Object.entries(WORST)) {
  Deno.test(`the time of the parser grows with the size of a text of ${name}`, () => {
    const { cpuMs } = timed(() => outcomeOf(text), MAX_CPU_MS);

    assert.ok(cpuMs < MAX_CPU_MS, `${cpuMs} ms`);
  });
}

Deno.test("a larger text than people write is refused before it is parsed", () => {
  assert.throws(() => parse('"'.repeat(900_000)), /it is larger than 262144 characters/);
});

Deno.test("a repeated key is a problem, a merged one is not", () => {
  assert.throws(
    () => parse("a: 1\nb: { c: 1, c: 2 }"),
    /Map keys must be unique: "c" appears twice/,
  );
  assert.deepEqual(parse("a: &a { b: 1 }\nc: { <<: *a, d: 2 }"), {
    a: { b: 1 },
    c: { b: 1, d: 2 },
  });
});

function outcomeOf(text: string): string {
  try {
    parse(text);
    return "read";
  } catch {
    return "refused";
  }
}
