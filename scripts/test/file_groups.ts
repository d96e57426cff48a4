import { join } from "node:path";
import type { FileGroups, TestGroup } from "./plan_batches.ts";

/** Tests beside their source need no platform, so starting a process takes longer than they do. */
const UNITS: TestGroup = { name: "units", filesPerProcess: 24 };

/** A file under `tests/` joins a group by importing the module of the shared fixture. */
const SHARED_FIXTURES: readonly { readonly module: RegExp; readonly group: TestGroup }[] = [
  {
    module: /^import .*"[./\w]*\/shared_platform\.ts";$/m,
    group: { name: "shared platform", filesPerProcess: 7 },
  },
  {
    module: /^import .*"[./\w]*\/shared_database\.ts";$/m,
    group: { name: "shared database", filesPerProcess: 9 },
  },
];

/** Reads which of the files may run in one process. */
export async function readFileGroups(
  projectRoot: string,
  files: readonly string[],
): Promise<FileGroups> {
  const entries = await Promise.all(files.map(async (file) => {
    const group = file.startsWith("tests/") ? await sharedBy(join(projectRoot, file)) : UNITS;
    return group === undefined ? [] : [[file, group] as const];
  }));
  return Object.fromEntries(entries.flat());
}

async function sharedBy(path: string): Promise<TestGroup | undefined> {
  const source = await Deno.readTextFile(path);
  return SHARED_FIXTURES.find(({ module }) => module.test(source))?.group;
}
