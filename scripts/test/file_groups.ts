import { join } from "node:path";
import type { FileGroups, TestGroup } from "./plan_batches.ts";

/** These tests need no platform, so starting a process takes longer than they do. */
const UNITS: TestGroup = { name: "units", filesPerProcess: 24 };
const UNIT_FOLDERS = /^tests\/(conformance|docs|models|tolerance)\//;

/** The simulation, which these tests import, replaces the clock, randomness and keys of its process. */
const SIMULATED: TestGroup = { name: "simulated", filesPerProcess: 12 };
const SIMULATED_FOLDERS = /^lab\/(model|mutants|simulation|versions)\//;

/** A file under `tests/` joins a group by importing the module of a shared fixture. */
const SHARED_FIXTURES: readonly TestGroup[] = [
  { name: "shared_platform", filesPerProcess: 12 },
  { name: "shared_database", filesPerProcess: 14 },
  { name: "shared_sync", filesPerProcess: 12 },
];

/**
 * These files share only the modules that they import, which are loaded and optimized once: each
 * opens a database or a platform of its own.
 */
const OWN_FIXTURES = /^tests\/(e2e|engine|gateway|platform|security|servers|stack)\//;
const OWN_FIXTURES_PER_PROCESS = 6;
/** A file has a process of its own if it changes the process, or measures its CPU time. */
const NEEDS_PROCESS = /cpu_time\.ts|blocked_loop\.ts|Deno\.env\.(set|delete)|Deno\.chdir/;

/** Reads which of the files may run in one process. */
export async function readFileGroups(
  projectRoot: string,
  files: readonly string[],
): Promise<FileGroups> {
  const entries = await Promise.all(files.map(async (file) => {
    const group = await groupOf(projectRoot, file);
    return group === undefined ? [] : [[file, group] as const];
  }));
  return Object.fromEntries(entries.flat());
}

async function groupOf(projectRoot: string, file: string): Promise<TestGroup | undefined> {
  if (SIMULATED_FOLDERS.test(file)) return SIMULATED;
  if (!file.startsWith("tests/")) return UNITS;
  const source = await Deno.readTextFile(join(projectRoot, file));
  const fixture = SHARED_FIXTURES.find(({ name }) =>
    new RegExp(`^(import|\\}) .*"[./\\w]*/${name}\\.ts";$`, "m").test(source)
  );
  if (fixture !== undefined) return fixture;
  if (UNIT_FOLDERS.test(file)) return UNITS;
  const [, folder] = OWN_FIXTURES.exec(file) ?? [];
  if (folder === undefined || NEEDS_PROCESS.test(source)) return undefined;
  return { name: folder, filesPerProcess: OWN_FIXTURES_PER_PROCESS };
}
