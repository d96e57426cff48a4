import assert from "node:assert/strict";
import { buildPrograms } from "./build_programs.ts";

Deno.test("the lock file of the programs has every package that they import", async () => {
  const files = await buildPrograms(new Set());

  const { specifiers } = JSON.parse(files.get("deno.lock") ?? "{}");
  const locked = Object.keys(specifiers);
  const sources = [...files].filter(([path]) => path.endsWith(".ts"));
  const imported = sources.flatMap(([, text]) =>
    [...text.matchAll(/(?:import\(|from )"(npm:[^"]+)"/g)].map(([, specifier = ""]) => specifier)
  );
  assert.ok(imported.length > 0);
  assert.deepEqual(imported.filter((name) => !locked.some((one) => name.startsWith(one))), []);
  // Deno would download the packages of these declarations.
  for (const [path, text] of files) {
    assert.ok(!path.endsWith(".d.ts"), path);
    if (path.startsWith("shared/vendor/")) assert.doesNotMatch(text, /^\/\/ @ts-self-types/m, path);
  }
});
