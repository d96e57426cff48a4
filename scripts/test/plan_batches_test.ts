import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../project_root.ts";
import { LONGEST_MS, planBatches, planRepetitions } from "./plan_batches.ts";

const filesOf = (batches: readonly { readonly files: readonly string[] }[]) =>
  batches.map(({ files }) => files);

Deno.test("planBatches() starts with the file that took longest", () => {
  const files = ["tests/a/one_test.ts", "tests/a/two_test.ts", "tests/b/three_test.ts"];
  const durations = {
    "tests/a/one_test.ts": 2_000,
    "tests/a/two_test.ts": 30_000,
    "tests/b/three_test.ts": 8_000,
  };

  const batches = planBatches(files, durations, {});

  assert.deepEqual(filesOf(batches), [[files[1]], [files[2]], [files[0]]]);
});

Deno.test("planBatches() starts with the usually longest files of a checkout that has run none", async () => {
  const longest = Object.keys(LONGEST_MS).sort((a, b) =>
    (LONGEST_MS[b] ?? 0) - (LONGEST_MS[a] ?? 0)
  );

  const batches = planBatches(["tests/a/new_test.ts", ...longest.toReversed()], {}, {});

  assert.deepEqual(batches[0]?.files, longest.slice(0, 1));
  assert.deepEqual(batches.at(-1)?.files, ["tests/a/new_test.ts"]);
  for (const file of longest) await Deno.stat(join(PROJECT_ROOT, file));
});

Deno.test("planBatches() runs the files of a group together, neighbors apart, in processes of nearly the same size", () => {
  const units = Array.from({ length: 5 }, (_, number) => `shared/u${number}_test.ts`);
  const group = { name: "units", filesPerProcess: 3 };
  const groups = Object.fromEntries(units.map((file) => [file, group]));

  const batches = planBatches([...units, "tests/e2e/new_test.ts"], {}, groups);

  assert.deepEqual(filesOf(batches), [
    ["tests/e2e/new_test.ts"],
    ["shared/u0_test.ts", "shared/u2_test.ts", "shared/u4_test.ts"],
    ["shared/u1_test.ts", "shared/u3_test.ts"],
  ]);
});

Deno.test("planRepetitions() gives every repetition a process of its own", () => {
  assert.deepEqual(
    filesOf(planRepetitions(["shared/platform/values/a_test.ts", "tests/b_test.ts"], 2)),
    [
      ["shared/platform/values/a_test.ts"],
      ["tests/b_test.ts"],
      ["shared/platform/values/a_test.ts"],
      ["tests/b_test.ts"],
    ],
  );
});
