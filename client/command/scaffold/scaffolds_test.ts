import assert from "node:assert/strict";
import { loadYaml } from "../../../scripts/deps.ts";
import { readEvalsFile } from "../../../scripts/evals/read_evals_file.ts";
import { readScript } from "../../../scripts/models/script/read_script.ts";
import { INTERNAL_SERVERS } from "../../../shared/app/internal_servers.ts";
import { readDefinitions } from "../../../shared/engine/definitions/read_definitions.ts";
import type { NewFile } from "../project/file_changes.ts";
import { SCAFFOLDS } from "./scaffolds.ts";
import { STARTER_FILES } from "./starter_files.ts";

const NAMES = ["a", "support", "second-line", "0-day"];

/** What is wrong with the files, as `push`, `dev` and `eval` read them. */
async function problemsOf(files: readonly NewFile[]): Promise<readonly unknown[]> {
  const yaml = await loadYaml();
  const inFolder = files.map(({ path, text }) => ({ path: path.replace(/^agents\//, ""), text }));
  for (const { path, text } of inFolder) {
    if (path.endsWith(".script.yaml")) readScript(text, path, yaml);
    if (path.endsWith(".evals.yaml")) readEvalsFile(text, path, yaml);
  }
  const { definitions, problems } = readDefinitions(
    inFolder.map(({ path, text }) => ({ path, bytes: new TextEncoder().encode(text) })),
    (text) => yaml.parse(text),
  );
  assert.equal(definitions.length, 1);
  return problems;
}

Deno.test("every file of init and new is one that push, dev and eval read", async () => {
  assert.deepEqual(await problemsOf(STARTER_FILES), []);
  for (const [kind, { files, pattern }] of Object.entries(SCAFFOLDS)) {
    for (const name of NAMES) {
      assert.match(name, pattern, kind);
      assert.deepEqual(await problemsOf(files(name)), [], `${kind} ${name}`);
    }
  }
});

Deno.test("new refuses names that push would refuse, and the slugs of the platform's servers", () => {
  const invalid = ["", "Support", "-a", "a b", "../a", "a/b", "a.md", "ä", "x".repeat(65)];
  for (const { pattern } of Object.values(SCAFFOLDS)) {
    for (const name of invalid) assert.doesNotMatch(name, pattern);
  }
  for (const slug of Object.keys(INTERNAL_SERVERS)) {
    assert.doesNotMatch(slug, SCAFFOLDS.tool?.pattern ?? /./);
  }
});
