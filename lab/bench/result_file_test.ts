import assert from "node:assert/strict";
import { judge } from "./bench_result.ts";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { withFigures } from "./result_file.ts";

const MACHINE = { cpu: "cpu", cores: 2, memory_gib: 4, load: 0.1, os: "linux", deno: "2" };

Deno.test("withFigures() replaces the figures and reports missed targets", () => {
  const page = "Before\n<!-- figures: begin -->\nold\n<!-- figures: end -->\nAfter\n";
  const result = judge("x", { a_ms: 7 }, { a_ms: { max: 5 } });

  const text = withFigures(page, [{
    ...result,
    at: "2026-01-02T03:04",
    db: "native",
    machine: MACHINE,
  }]);

  assert.match(text, /^Before\n.*### x: missed\n.*`a_ms`.*at most 5, \*\*missed\*\*.*After\n$/s);
  assert.doesNotMatch(text, /old/);
});

Deno.test("withFigures() refuses a page without its markers", () => {
  assert.throws(() => withFigures("nothing", []), /figures: begin/);
});

Deno.test("the page of benchmarks has a place for figures", async () => {
  const page = await Deno.readTextFile(join(PROJECT_ROOT, "docs/benchmarks.md"));

  assert.doesNotThrow(() => withFigures(page, []));
});
