import assert from "node:assert/strict";
import { bundleProblems, describeCosts, type FunctionCost } from "./check_bundles.ts";

const SMALL: FunctionCost = {
  name: "mcp",
  bundleBytes: 4_000_000,
  compressedBytes: 850_000,
  importWallMs: 400,
  importCpuMs: 150,
};

Deno.test("bundleProblems() accepts a small function that a busy machine imported slowly", () => {
  assert.deepEqual(bundleProblems([SMALL]), []);
});

Deno.test("bundleProblems() reports a bundle that is too large", () => {
  const [problem, ...others] = bundleProblems([{ ...SMALL, compressedBytes: 2_500_000 }]);

  assert.deepEqual(others, []);
  assert.match(problem ?? "", /^mcp: the compressed bundle has 2\.50 MB, the limit is 2\.50 MB/);
});

Deno.test("bundleProblems() reports an import that takes too long", () => {
  assert.match(
    bundleProblems([{ ...SMALL, importCpuMs: 300 }])[0] ?? "",
    /^mcp: the import takes 300 ms of CPU time, the limit is 300 ms/,
  );
  assert.equal(bundleProblems([{ ...SMALL, importCpuMs: null }]).length, 1);
});

Deno.test("describeCosts() writes one line per function", () => {
  const upload = { name: "mcp", files: 480, bytes: 2_900_000, largest: [] };

  assert.deepEqual(describeCosts([SMALL, { ...SMALL, name: "lost" }], [upload]), [
    "mcp: 2.90 MB uploaded in 480 files, 0.85 MB compressed, cold import 150 ms of CPU, 400 ms",
    "lost: not uploaded, 0.85 MB compressed, cold import 150 ms of CPU, 400 ms",
  ]);
});
