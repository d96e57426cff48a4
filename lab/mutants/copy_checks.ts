/**
 * `copy_checks.ts simulation|tests NAMES`: writes each mutant into a copy of the project, and runs
 * worlds, or the test files that are about it, there.
 */
import { join } from "node:path";
import { FULL_LOCK } from "../../scripts/locks/lock_files.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { startMigratedServer } from "../../tests/postgres/native_server.ts";
import { testDatabaseEnv } from "../../scripts/test/test_database.ts";
import { patchOf } from "./apply_sql_mutant.ts";
import { definitionOf } from "./definition_of.ts";
import { nameOf, type SourceMutant, type SqlMutant } from "./mutant.ts";
import { SOURCE_MUTANTS } from "./source_mutants.ts";
import { SQL_MUTANTS } from "./sql_mutants.ts";
import { askedFor, writeVerdict } from "./verdict.ts";

/** What the worlds and the tests import. */
const COPIED = [
  ...["deno.json", "deno.lock", "client", "lab", "scripts", "shared", "stack", "supabase", "tests"],
];
const WORLDS = ["run", "-A", "--no-check", "lab/mutants/worlds_of_sources.ts"];
/** A fault may let a program wait for ever. */
const MAX_MS = 300_000;
/** All tests one after the other, without a mutant. */
const MAX_SOUND_MS = 1_800_000;
/** After all others, so that a function of it replaces theirs. */
const MUTANT_MIGRATION = "supabase/migrations/99990101000000_mutant.sql";

const check = Deno.args[0] === "simulation" ? "simulation" : "tests";
const folder = await Deno.makeTempDir({ prefix: "supaswarm_mutants_" });
// The user of native Postgres enters it.
await Deno.chmod(folder, 0o755);
try {
  await run("cp", ["-r", ...COPIED.map((name) => join(PROJECT_ROOT, name)), folder]);
  await Deno.mkdir(join(folder, ".supaswarm"));
  for (const name of ["cache", "native"]) {
    await Deno.symlink(join(PROJECT_ROOT, ".supaswarm", name), join(folder, ".supaswarm", name));
  }
  const sources = askedFor(SOURCE_MUTANTS);
  const schemas = askedFor(SQL_MUTANTS);
  const sound = check === "simulation" ? WORLDS : testsOf([...sources, ...schemas]);
  const { isDone, output } = await run(Deno.execPath(), sound, MAX_SOUND_MS);
  if (!isDone) throw new Error(`The check fails without a mutant: ${output.slice(-2_000)}`);
  for (const mutant of sources) await judge(mutant, await writeSource(mutant));
  for (const mutant of schemas) await judge(mutant, await writeMigration(mutant));
} finally {
  await Deno.remove(folder, { recursive: true });
}

/** @returns what takes it back. */
async function writeSource(mutant: SourceMutant): Promise<() => Promise<void>> {
  const path = join(folder, mutant.file);
  const source = await Deno.readTextFile(path);
  if (source.split(mutant.text).length !== 2) {
    throw new Error(`"${nameOf(mutant)}" does not find its text once in ${mutant.file}`);
  }
  await Deno.writeTextFile(path, source.replace(mutant.text, () => mutant.replacement));
  return () => Deno.writeTextFile(path, source);
}

/** @returns what takes it back. */
async function writeMigration(mutant: SqlMutant): Promise<() => Promise<void>> {
  await using server = await startMigratedServer();
  const { apply } = patchOf(mutant, await definitionOf(server.sql, mutant.sqlFunction));
  const path = join(folder, MUTANT_MIGRATION);
  await Deno.writeTextFile(path, `${apply};\n`);
  const cache = join(folder, ".supaswarm", "cache");
  await Deno.remove(cache);
  await Deno.mkdir(cache);
  return async () => {
    await Deno.remove(path);
    await Deno.remove(cache, { recursive: true });
    await Deno.symlink(join(PROJECT_ROOT, ".supaswarm", "cache"), cache);
  };
}

async function judge(
  mutant: SourceMutant | SqlMutant,
  takeBack: () => Promise<void>,
): Promise<void> {
  const { tests = [] } = mutant;
  const args = check === "simulation" ? WORLDS : testsOf([mutant]);
  const { isDone, output } = tests.length === 0 && check === "tests"
    ? { isDone: true, output: "" }
    : await run(Deno.execPath(), args);
  await takeBack();
  const [reason = "it does not end"] = (check === "simulation" ? /^.+$/m : /^.+ => \S+/m)
    .exec(output) ?? [];
  writeVerdict({ name: nameOf(mutant), check, noticedBy: isDone ? null : reason });
}

function testsOf(mutants: readonly (SourceMutant | SqlMutant)[]): string[] {
  const files = new Set(mutants.flatMap(({ tests = [] }) => tests));
  return ["test", "-A", "--no-check", `--lock=${FULL_LOCK}`, "--fail-fast", ...files];
}

async function run(command: string, args: readonly string[], maxMs = MAX_MS) {
  const { success, stdout } = await new Deno.Command(command, {
    args: [...args],
    cwd: folder,
    env: { NO_COLOR: "1", ...testDatabaseEnv("native") },
    stdout: "piped",
    stderr: "null",
    signal: AbortSignal.timeout(maxMs),
  }).output();
  return { isDone: success, output: new TextDecoder().decode(stdout) };
}
