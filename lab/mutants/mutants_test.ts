import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { nameOf } from "./mutant.ts";
import { SOURCE_MUTANTS } from "./source_mutants.ts";
import { SQL_MUTANTS } from "./sql_mutants.ts";

const read = (path: string) => Deno.readTextFile(join(PROJECT_ROOT, path));

Deno.test("every mutant finds the text that it changes", async () => {
  const sql = await readMigrations();
  const isGenerated = (name: string) => !sql.includes(`create function private.${name}(`);
  const lost = SQL_MUTANTS.filter(({ sqlFunction, text }) =>
    !isGenerated(sqlFunction) && !sql.includes(text)
  ).map(nameOf);
  for (const mutant of SOURCE_MUTANTS) {
    if ((await read(mutant.file)).split(mutant.text).length !== 2) lost.push(nameOf(mutant));
  }

  assert.deepEqual(lost, []);
});

Deno.test("every mutant has its own name, and its checks exist", async () => {
  const mutants = [...SQL_MUTANTS, ...SOURCE_MUTANTS];
  assert.equal(new Set(mutants.map(nameOf)).size, mutants.length);

  const paths = new Set(mutants.flatMap(({ tests = [] }) => tests));
  for (const { sqlFunction, pgtap = [] } of SQL_MUTANTS) {
    for (const folder of pgtap) paths.add(`supabase/tests/${folder}`);
    assert.match(sqlFunction, /^[a-z_]+$/);
  }
  for (const path of paths) await Deno.stat(join(PROJECT_ROOT, path));
});

async function readMigrations(): Promise<string> {
  const folder = "supabase/migrations";
  const texts: string[] = [];
  for await (const { name } of Deno.readDir(join(PROJECT_ROOT, folder))) {
    texts.push(await read(`${folder}/${name}`));
  }
  return texts.join("\n");
}
