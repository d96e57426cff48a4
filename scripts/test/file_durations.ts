import { dirname, join } from "node:path";
import type { FileDurations } from "./plan_batches.ts";
import type { BatchReport } from "./run_batch.ts";

const PATH = ".supaswarm/cache/test_durations.json";

/** How long files took when they last ran here; empty on a new checkout. */
export async function readFileDurations(projectRoot: string): Promise<FileDurations> {
  try {
    return JSON.parse(await Deno.readTextFile(join(projectRoot, PATH))) as FileDurations;
  } catch {
    // Only the order of the tests depends on it.
    return {};
  }
}

/** Adds what was measured to what is known. */
export async function writeFileDurations(
  projectRoot: string,
  durations: FileDurations,
): Promise<void> {
  const path = join(projectRoot, PATH);
  await Deno.mkdir(dirname(path), { recursive: true });
  const all = { ...await readFileDurations(projectRoot), ...durations };
  await Deno.writeTextFile(path, JSON.stringify(all, null, 2));
}

/** Milliseconds by file: of the process where it had one to itself, else of its tests. */
export function fileDurations(reports: readonly BatchReport[]): FileDurations {
  const durations: Record<string, number> = {};
  for (const { batch: { files }, durationMs, cases } of reports) {
    for (const file of files) {
      const tests = cases.filter((test) => test.file === file);
      durations[file] = Math.round(
        files.length === 1 ? durationMs : tests.reduce((sum, test) => sum + test.durationMs, 0),
      );
    }
  }
  return durations;
}
