import assert from "node:assert/strict";
import { reduceWorld } from "./reduce.ts";
import type { WorldReport } from "./world.ts";

/** A world with these disturbances that fails if `fails` says so about those that happen. */
function worldOf(all: readonly string[], fails: (happened: readonly string[]) => boolean) {
  return (omitted: ReadonlySet<string>): Promise<WorldReport> => {
    const disturbances = all.filter((id) => !omitted.has(id));
    const violations = fails(disturbances) ? [{ name: "it holds", detail: "" }] : [];
    return Promise.resolve({
      seed: 1,
      violations,
      disturbances,
      figures: {},
      trace: [],
      contexts: [],
      hash: null,
    });
  };
}

const letters = [..."abcdefghijklmnopqrst"];

Deno.test("a reduction finds the disturbances that only fail together", async () => {
  const run = worldOf(letters, (happened) => happened.includes("c") && happened.includes("q"));
  const { needed } = await reduceWorld(await run(new Set()), run);
  assert.deepEqual(needed, ["c", "q"]);
});

Deno.test("a world that fails without any disturbance is reduced to none", async () => {
  const run = worldOf(letters, () => true);
  const { needed } = await reduceWorld(await run(new Set()), run);
  assert.deepEqual(needed, []);
});

Deno.test("a reduction keeps to the invariant that was violated first", async () => {
  const inner = worldOf(letters, (happened) => happened.includes("a"));
  const run = async (omitted: ReadonlySet<string>) => {
    const report = await inner(omitted);
    const other = [{ name: "something else", detail: "" }];
    return report.violations.length > 0 ? report : { ...report, violations: other };
  };
  const { needed, name } = await reduceWorld(await run(new Set()), run);
  assert.deepEqual({ needed, name }, { needed: ["a"], name: "it holds" });
});
