import assert from "node:assert/strict";
import { importsOfTests } from "./imports_of_tests.ts";

Deno.test("importsOfTests() names a file outside of tests/ that imports a fixture", () => {
  const source = [
    `import assert from "node:assert/strict";`,
    // Concatenated, so that this file does not contain the import.
    `import { openToolFixture } from "../../${"tests"}/tools/tool_fixture.ts";`,
    `const { waitFor } = await import("../${"tests"}/wait_for.ts");`,
  ].join("\n");

  const problems = importsOfTests("shared/gateway/tools/x_test.ts", source);

  assert.deepEqual(problems.map((problem) => problem.split(" ", 1)[0]), [
    "shared/gateway/tools/x_test.ts:2",
    "shared/gateway/tools/x_test.ts:3",
  ]);
});

Deno.test("importsOfTests() accepts imports within tests/, and paths that only contain the name", () => {
  const source = `import { bootPlatform } from "../${"tests"}/e2e/platform.ts";`;

  assert.deepEqual(importsOfTests("tests/e2e/x_test.ts", source), []);
  assert.deepEqual(
    importsOfTests("shared/platform/values/x_test.ts", `import "./contests/x.ts";`),
    [],
  );
});
