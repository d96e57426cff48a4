import assert from "node:assert/strict";
import { planBatches, planRepetitions } from "./plan_batches.ts";

const filesOf = (batches: readonly { readonly files: readonly string[] }[]) =>
  batches.map(({ files }) => files);

Deno.test("planBatches() starts with the slowest file", () => {
  const files = ["tests/a/one_test.ts", "tests/a/two_test.ts", "tests/b/three_test.ts"];

  const batches = planBatches(files, {
    "tests/a/one_test.ts": 2_000,
    "tests/a/two_test.ts": 30_000,
    "tests/b/three_test.ts": 8_000,
  });

  assert.deepEqual(filesOf(batches), [[files[1]], [files[2]], [files[0]]]);
});

Deno.test("planBatches() runs unit test files together, after the files that boot a platform", () => {
  const units = Array.from({ length: 20 }, (_, number) => `shared/u${number}_test.ts`);

  const batches = planBatches([...units, "tests/e2e/new_test.ts"], {});

  assert.deepEqual(filesOf(batches), [
    ["tests/e2e/new_test.ts"],
    units.slice(0, 16),
    units.slice(16),
  ]);
});

Deno.test("planRepetitions() runs every repetition in its own process", () => {
  assert.deepEqual(filesOf(planRepetitions(["shared/a_test.ts", "tests/b_test.ts"], 2)), [
    ["shared/a_test.ts"],
    ["tests/b_test.ts"],
    ["shared/a_test.ts"],
    ["tests/b_test.ts"],
  ]);
});
