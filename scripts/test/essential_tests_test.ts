import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../project_root.ts";
import { ESSENTIAL_FILES } from "./essential_tests.ts";

Deno.test("the essential tests have files for each wing and each edge function", () => {
  const subjects = [...foldersOf("shared"), ...foldersOf("supabase/functions")]
    .filter((name) => name !== "vendor" && !name.startsWith("_"));
  const missing = subjects.filter((name) => (ESSENTIAL_FILES[name] ?? []).length === 0);

  assert.ok(subjects.length > 10);
  assert.deepEqual(missing, [], "add a file that shows that it works to essential_tests.ts");
});

function foldersOf(path: string): string[] {
  return [...Deno.readDirSync(`${PROJECT_ROOT}/${path}`)]
    .filter(({ isDirectory }) => isDirectory).map(({ name }) => name);
}
