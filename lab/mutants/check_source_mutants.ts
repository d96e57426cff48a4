import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { nameOf, type SourceMutant } from "./mutant.ts";
import type { Verdict } from "./verdict.ts";

/** What the worlds and the tests of the worker import. */
const COPIED = ["deno.json", "deno.lock", "lab", "scripts", "shared", "stack", "supabase", "tests"];
const SEEDS = "1..25";

/** Writes each mutant into a copy of the sources, and runs worlds and tests on it. */
export async function* checkSourceMutants(
  mutants: readonly SourceMutant[],
): AsyncGenerator<Verdict> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm_mutants_" });
  try {
    await run("cp", ["-r", ...COPIED.map((name) => join(PROJECT_ROOT, name)), folder], folder);
    await Deno.mkdir(join(folder, ".supaswarm"));
    for (const name of ["cache", "native"]) {
      await Deno.symlink(join(PROJECT_ROOT, ".supaswarm", name), join(folder, ".supaswarm", name));
    }
    for (const mutant of mutants) yield await checkOne(mutant, folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function checkOne(mutant: SourceMutant, folder: string): Promise<Verdict> {
  const path = join(folder, mutant.file);
  const source = await Deno.readTextFile(path);
  if (source.split(mutant.text).length !== 2) {
    throw new Error(`"${nameOf(mutant)}" does not find its text once in ${mutant.file}`);
  }
  await Deno.writeTextFile(path, source.replace(mutant.text, () => mutant.replacement));
  try {
    const tests = await run(Deno.execPath(), ["test", "-A", "--no-check", ...mutant.tests], folder);
    const [failure] = /^.+ => \S+/m.exec(tests.output) ?? [];
    const worlds = await run(
      Deno.execPath(),
      ["run", "-A", "--no-check", "lab/simulation/simulate.ts", "--seeds", SEEDS, "--first"],
      folder,
    );
    const [, seed, violation] = /^seed (\d+)\n +violated: ([^:\n]+)/m.exec(worlds.output) ?? [];
    return {
      name: nameOf(mutant),
      tests: tests.isDone ? null : failure ?? "the tests do not end",
      simulation: worlds.isDone
        ? null
        : seed === undefined
        ? "the worlds do not end"
        : `seed ${seed}: ${violation}`,
    };
  } finally {
    await Deno.writeTextFile(path, source);
  }
}

/** A fault may let a program wait for ever. */
const MAX_MS = 120_000;

async function run(command: string, args: readonly string[], cwd: string) {
  const signal = AbortSignal.timeout(MAX_MS);
  const { success, stdout } = await new Deno.Command(command, {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1" },
    stdout: "piped",
    stderr: "null",
    signal,
  }).output();
  return { isDone: success, output: new TextDecoder().decode(stdout) };
}
